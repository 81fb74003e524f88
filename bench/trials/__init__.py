"""Measures on a GPU whether the changes that findings propose make kernels faster.

python -m bench.trials collect TRIALS              compile kernels and changes; write the proven changes
python -m bench.trials measure TRIALS RESULT DIR   time them on this machine's GPU; DIR has the libraries
python -m bench.trials record RESULT …             write the measurements for tests and documentation

`measure` needs PyTorch and Triton, but not the explorer. Public libraries have most of the kernels
(`bench.real_scripts`, with larger sizes); the files in `kernels` were written for this measurement. No
kernel is in the gallery.
"""
