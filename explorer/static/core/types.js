/**
 * The documents of the API, as its OpenAPI description defines them, and the page's own small types. Only types:
 * nothing here is in the bundle.
 *
 * The types of `openapi` are generated from that description by `python hatch_build.py --check`.
 *
 * @typedef {import("openapi").Argument} Argument
 * @typedef {import("openapi").Parameter} Parameter
 * @typedef {import("openapi").Config} Config
 * @typedef {import("openapi").TorchNode} TorchNode
 * @typedef {import("openapi").Kernel} Kernel
 * @typedef {import("openapi").Launch} Launch
 * @typedef {import("openapi").AssumedNumber} AssumedNumber
 * @typedef {import("openapi").Specialized} Specialized
 * @typedef {import("openapi").StageDocument} StageRow
 * @typedef {import("openapi").PassDocument} PassRow
 * @typedef {import("openapi").Diagnostic} Diagnostic
 * @typedef {import("openapi").Log} LogEntry
 * @typedef {import("openapi").ResourcesDocument} Resources
 * @typedef {import("openapi").CompilationDocument} CompilationDocument
 * @typedef {import("openapi").InspectionDocument} InspectionDocument
 * @typedef {import("openapi").TargetDocument} Target
 * @typedef {import("openapi").ExampleRow} GalleryRow
 * @typedef {import("openapi").Example} GalleryExample
 * @typedef {import("openapi").TourRow} TourRow
 * @typedef {import("openapi").Tour} Tour
 * @typedef {import("openapi").TourStep} TourStep
 * @typedef {import("openapi").TourStepDocument} TourStepDocument
 * @typedef {import("openapi").TourTimes} TourTimes
 * @typedef {import("openapi").CheckedClaim} CheckedClaim
 * @typedef {import("openapi").Term} GlossaryTerm
 * @typedef {import("openapi").WhyDocument} WhyDocument
 * @typedef {import("openapi").DivergenceDocument} DivergenceDocument
 * @typedef {import("openapi").ExplanationDocument} ExplanationDocument
 * @typedef {import("openapi").WhyFact} WhyFact
 * @typedef {import("openapi").WhyLink} WhyLink
 * @typedef {Partial<import("openapi").Claim>} Claim
 * @typedef {import("openapi").Exercise} Exercise
 * @typedef {import("openapi").ExerciseRow} ExerciseRow
 * @typedef {import("openapi").LessonLaunch} LessonLaunch
 * @typedef {import("openapi").Line} TextLine
 * @typedef {import("openapi").LocationsDocument} Locations
 * @typedef {import("openapi").Node} GraphNode
 * @typedef {import("openapi").GraphDocument} GraphDocument
 * @typedef {import("openapi").Curve} OccupancyCurve
 * @typedef {import("openapi").Waves} Waves
 * @typedef {import("openapi").MixRow} MixRow
 * @typedef {import("openapi").MixLoop} MixLoop
 * @typedef {import("openapi").InstructionMix} InstructionMix
 * @typedef {import("openapi").OccupancyDocument} OccupancyDocument
 * @typedef {import("openapi").StageSideDocument} StageSide
 * @typedef {import("openapi").StagePairDocument} StagePair
 * @typedef {import("openapi").PassSideDocument} PassSide
 * @typedef {import("openapi").PassPairDocument} PassPair
 * @typedef {import("openapi").ResourceDocument} ResourcePair
 * @typedef {import("openapi").SideDocument} ComparedSide
 * @typedef {import("openapi").ComparisonDocument} ComparisonDocument
 * @typedef {import("openapi").SessionRow} SessionRow
 * @typedef {import("openapi").SessionDocument} SessionDocument
 * @typedef {import("openapi").ImportDocument} ImportDocument
 * @typedef {import("openapi").FindingChanges} FindingChanges
 * @typedef {import("openapi").MatrixTicket} MatrixTicket
 * @typedef {import("openapi").ColumnDocument} MatrixColumn
 * @typedef {import("openapi").CellDocument} MatrixCell
 * @typedef {import("openapi").MatrixDocument} MatrixDocument
 * @typedef {import("openapi").Span} DiffSpan
 * @typedef {import("openapi").DiffDocument} DiffDocument
 * @typedef {Omit<import("openapi").Run, "original">} Run
 * @typedef {import("openapi").RunInput} RunInput
 * @typedef {import("openapi").RecordedDocument} Recorded
 * @typedef {import("openapi").Progress} Progress
 * @typedef {import("openapi").MeasurementDocument} MeasurementRow
 * @typedef {import("openapi").RunRow} RunRow
 * @typedef {import("openapi").RunDocument} RunDocument
 * @typedef {import("openapi").DevicesDocument} Devices
 * @typedef {import("openapi").RunsDocument} RunsDocument
 * @typedef {import("openapi").Conditions} Conditions
 * @typedef {import("openapi").Environment} Environment
 * @typedef {import("openapi").RunArgument} RunArgument
 * @typedef {import("openapi").LaunchFacts} LaunchFacts
 * @typedef {import("openapi").OutputCheck} OutputCheck
 * @typedef {import("openapi").Check} Check
 * @typedef {import("openapi").Timing} Timing
 * @typedef {import("openapi").Timings} Timings
 * @typedef {import("openapi").SweepPoint} SweepPoint
 * @typedef {import("openapi").Sweep} Sweep
 * @typedef {import("openapi").ConfigTiming} ConfigTiming
 * @typedef {import("openapi").Autotuning} Autotuning
 * @typedef {import("openapi").Counters} Counters
 * @typedef {import("openapi").OperationCount} OperationCount
 * @typedef {import("openapi").Counts} Counts
 * @typedef {import("openapi").Roof} Roof
 * @typedef {import("openapi").Roofs} Roofs
 * @typedef {import("openapi").Scope} Scope
 * @typedef {import("openapi").Timeline} Timeline
 * @typedef {import("openapi").FileRow} FileRow
 * @typedef {import("openapi").FilesDocument} ProfileFiles
 * @typedef {import("openapi").Quantity} Quantity
 * @typedef {import("openapi").Ceiling} Ceiling
 * @typedef {import("openapi").Bound} Bound
 * @typedef {import("openapi").Dot} Dot
 * @typedef {import("openapi").Ridge} Ridge
 * @typedef {import("openapi").Operations} Operations
 * @typedef {import("openapi").Traffic} Traffic
 * @typedef {import("openapi").Need} Need
 * @typedef {import("openapi").Resource} Resource
 * @typedef {import("openapi").Floor} Floor
 * @typedef {import("openapi").Loss} Loss
 * @typedef {import("openapi").Evidence} Evidence
 * @typedef {import("openapi").Hint} Hint
 * @typedef {import("openapi").RooflineDocument} RooflineDocument
 * @typedef {import("openapi").LineHeat} LineHeat
 * @typedef {import("openapi").InstructionHeat} InstructionHeat
 * @typedef {import("openapi").StageHeat} StageHeat
 * @typedef {import("openapi").HeatDocument} HeatDocument
 * @typedef {import("openapi").Place} Place
 * @typedef {import("openapi").View} View
 * @typedef {import("openapi").BufferMap} Buffer
 * @typedef {import("openapi").HazardMap} Hazard
 * @typedef {import("openapi").BarrierMap} Barrier
 * @typedef {import("openapi").Mark} Mark
 * @typedef {import("openapi").FunctionMap} FunctionMap
 * @typedef {import("openapi").TensorBuffer} TensorBuffer
 * @typedef {import("openapi").TensorMemoryMap} TensorMemoryMap
 * @typedef {import("openapi").AllocationDocument} AllocationDocument
 * @typedef {import("openapi").StagesRow} StagesRow
 * @typedef {import("openapi").FewerStagesDocument} FewerStagesDocument
 * @typedef {import("openapi").PassChanges} PassChanges
 * @typedef {import("openapi").PassMatches} PassMatches
 * @typedef {import("openapi").LineageStep} LineageStep
 * @typedef {import("openapi").LineageDocument} Lineage
 * @typedef {import("openapi").Instruction} Instruction
 * @typedef {import("openapi").RegistersDocument} RegistersDocument
 * @typedef {import("openapi").PtxAsCDocument} PtxAsCDocument
 * @typedef {import("openapi").ScheduleDocument} ScheduleDocument
 * @typedef {import("openapi").BarrierPhasesDocument} BarrierPhasesDocument
 * @typedef {import("openapi").BarrierDocument} BarrierDocument
 * @typedef {import("openapi").PhaseLine} PhaseLine
 * @typedef {import("openapi").ScheduledLoop} ScheduledLoop
 * @typedef {import("openapi").ScheduledOperation} ScheduledOperation
 * @typedef {import("openapi").OperationOrigin} OperationOrigin
 * @typedef {import("openapi").Wait} ScoreboardWait
 * @typedef {import("openapi").LiveRange} LiveRange
 * @typedef {import("openapi").TensorRegistersDocument} TensorRegistersDocument
 * @typedef {import("openapi").LayoutRow} LayoutRow
 * @typedef {import("openapi").AxisInformation} Axis
 * @typedef {import("openapi").Alternative} Alternative
 * @typedef {import("openapi").Emitted} Emitted
 * @typedef {import("openapi").ConversionCost} Cost
 * @typedef {import("openapi").AccessRow} Access
 * @typedef {import("openapi").MatrixRow} MatrixProduct
 * @typedef {import("openapi").LayoutsDocument} LayoutsDocument
 * @typedef {import("openapi").Bases} Bases
 * @typedef {import("openapi").SharedAccessRow} SharedAccess
 *
 * @typedef {Locations["locations"][number][number]} FrameRow file index, line, column, function
 * @typedef {string | number | boolean | null} Scalar
 * @typedef {CompilationDocument["status"]} Status
 * @typedef {Run["device"]} Device
 * @typedef {Run["measures"][number]} Measure
 * @typedef {import("openapi").MeasureDocument & {name: Measure}} MeasureKind a measure of a run
 * @typedef {RunInput["distribution"]} Distribution
 * @typedef {Quantity["source"]} Source the source of a number
 * @typedef {Dot["level"]} Level of the memory
 * @typedef {{environment: Environment, launch: LaunchFacts, check: Check, timings: Timings, sweep: Sweep,
 *   autotuning: Autotuning, counters: Counters, counts: Counts, roofs: Roofs, files: ProfileFiles,
 *   timeline: Timeline}} Measurements by name; samples are requested as heat, files are listed without their data
 * @typedef {Pick<import("openapi").CompilationBody, "source" | "target"> &
 *   Partial<import("openapi").CompilationBody>} CompilationRequest
 * @typedef {Partial<import("openapi").Configuration>} MatrixConfiguration
 * @typedef {{compilation: CompilationRequest, configurations: MatrixConfiguration[], targets: string[],
 *   tritons: string[]}} MatrixRequest
 *
 * @typedef {{name: string, title: string, summary: string, per_stage: boolean, module: string}} PaneKind
 * @typedef {{name: string, title: string, language: string, summary: string, is_editable: boolean}} StageKind
 * @typedef {{family: string, hue: string, vocabulary: string, word: string,
 *   graph: "data flow" | "control flow" | null}} LanguageFacts the server's facts about a language
 * @typedef {{title: string, short: string}} MetricTitles
 * @typedef {{title: string, kind: string, detail: string}} Problem
 */

/**
 * The answer of the analysis that is called `Name`.
 * @template {string} Name
 * @typedef {`/api/v1/compilations/{compilation_id}/${Name}` extends infer Path extends
 *   keyof import("openapi").paths
 *   ? import("openapi").paths[Path] extends
 *       {get: {responses: {200: {content: {"application/json": infer Answer}}}}} ? Answer : never
 *   : never} AnalysisAnswer
 */

/**
 * The compilation that the user edits. `mode` selects the launch, the arguments or the signature.
 * @typedef {object} Draft
 * @property {string} source
 * @property {string} path of the script among `files`; "": there are no other files
 * @property {Record<string, string>} files the texts of the files that the script may import, by their paths
 * @property {string | null} kernel
 * @property {"launch" | "form" | "signature"} mode
 * @property {number | null} launch
 * @property {Argument[]} arguments
 * @property {Record<string, string>} guessed the reason for each of `arguments` that is guessed, by name
 * @property {string} signature
 * @property {Record<string, string>} typed the text of a cell with an invalid value, by "<name>.<field>"
 * @property {Record<string, Scalar>} options
 * @property {Record<string, Scalar>} constants other values for constexpr arguments of the launch
 * @property {number | null} config
 * @property {string} target
 * @property {string | null} triton
 * @property {Record<string, number>} assumed numbers in place of values of tensors that only a GPU could compute, by
 *   places: "12", and "tools.py:3" for a file beside the script
 * @property {string} scriptArguments the arguments of the script, written as in a shell
 * @property {CompilationDocument["request"]["edits"]} edits of stages and passes
 * @property {string} private the key of a private result; "": it is public
 */
export {};
