#!/bin/bash
# A function bound at its first call gets all its arguments, then and later; a library that is missing is
# an error that can be caught. The library here is made for the test, so that no CUDA is needed.
set -eu
[ "$(uname -m)" = x86_64 ] || { echo "libraries are bound lazily on x86-64 only"; exit 77; }
cd "$TMPDIR"
root=$OLDPWD

cat > sum.cpp << 'EOC'
extern "C" double Sum(int a, int b, int c, int d, int e, int f, int g, int h, double i, double j,
                      double k, double l, double m, double n, double o, double p, double q) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
         12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q;
}
EOC
cat > main.cpp << 'EOC'
#include <cstdio>

#include "moka/base/error.hpp"
extern "C" double Sum(int, int, int, int, int, int, int, int, double, double, double, double,
                      double, double, double, double, double);
double Call() { return Sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17); }
int main() try {
  std::printf("%g %g\n", Call(), Call());
} catch (const moka::Error& error) {
  std::printf("caught: %s\n", error.what());
}
EOC
compile="g++ -std=c++17 -O1 -fPIC -I$root/include"
$compile -shared -Wl,-soname,libsum.so.3 sum.cpp -o libsum.so.3
$compile -c main.cpp
$compile -c "$root/src/moka/device/cuda/lazy_library.cpp"
"$root/scripts/lazy_libraries.sh" libsum.so.3 -- main.o lazy_library.o > lazy.S
g++ main.o lazy_library.o lazy.S -o main

# 1^2 + 2^2 + ... + 17^2 = 17 * 18 * 35 / 6
[ "$(LD_LIBRARY_PATH=. ./main)" = "1785 1785" ] || { echo "arguments were lost"; exit 1; }
rm libsum.so.3
./main | grep '^caught: cannot load Sum: libsum.so.3' || { echo "not caught"; exit 1; }
