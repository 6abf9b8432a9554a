#!/bin/bash
# Lets a program use shared libraries that need not be there: writes x86-64 assembly that defines each
# function which the objects take from the libraries. Its first call binds it by
# MokaBind(soname, name) (device/lazy_library.cpp), later ones jump straight to it. So a build with CUDA starts
# without CUDA, and without the time that loading cuBLAS and cuDNN takes.
#   scripts/lazy_libraries.sh LIBRARY.so... -- OBJECT.o... > lazy.S
set -euo pipefail
libraries=()
while [ "$1" != -- ]; do libraries+=("$1"); shift; done
shift

wanted=$(nm -u "$@" | awk 'NF == 2 { print $2 }' | sort -u)

echo '.section .note.GNU-stack,"",@progbits'
for library in "${libraries[@]}"; do
  soname=$(readelf -d "$library" | sed -nE 's/.*\(SONAME\).*\[(.*)\]/\1/p')
  exported=$(nm -D --defined-only "$library" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' | sort -u)
  for name in $(comm -12 <(echo "$wanted") <(echo "$exported")); do
    cat << STUB
	.section .rodata
.Lname_$name: .asciz "$name"
.Llibrary_$name: .asciz "$soname"
	.data
	.balign 8
.Lslot_$name: .quad .Lbind_$name
	.text
	.globl $name
	.hidden $name
	.type $name, @function
$name:
	.cfi_startproc
	jmp *.Lslot_$name(%rip)
.Lbind_$name:
	lea .Lslot_$name(%rip), %r11
	lea .Llibrary_$name(%rip), %r10
	lea .Lname_$name(%rip), %rax
	jmp .Lbind
	.cfi_endproc
STUB
  done
done

# %r11: the slot to fill, %r10: the library, %rax: the function. The arguments in registers outlive the call.
# (%rax itself only counts vector arguments of variadic functions, which none of these are.)
cat << 'BIND'
	.text
.Lbind:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub $192, %rsp
	mov %rdi, -8(%rbp)
	mov %rsi, -16(%rbp)
	mov %rdx, -24(%rbp)
	mov %rcx, -32(%rbp)
	mov %r8, -40(%rbp)
	mov %r9, -48(%rbp)
	mov %r11, -56(%rbp)
	movups %xmm0, -80(%rbp)
	movups %xmm1, -96(%rbp)
	movups %xmm2, -112(%rbp)
	movups %xmm3, -128(%rbp)
	movups %xmm4, -144(%rbp)
	movups %xmm5, -160(%rbp)
	movups %xmm6, -176(%rbp)
	movups %xmm7, -192(%rbp)
	mov %r10, %rdi
	mov %rax, %rsi
	call MokaBind@PLT
	mov -56(%rbp), %r11
	mov %rax, (%r11)
	mov -8(%rbp), %rdi
	mov -16(%rbp), %rsi
	mov -24(%rbp), %rdx
	mov -32(%rbp), %rcx
	mov -40(%rbp), %r8
	mov -48(%rbp), %r9
	movups -80(%rbp), %xmm0
	movups -96(%rbp), %xmm1
	movups -112(%rbp), %xmm2
	movups -128(%rbp), %xmm3
	movups -144(%rbp), %xmm4
	movups -160(%rbp), %xmm5
	movups -176(%rbp), %xmm6
	movups -192(%rbp), %xmm7
	leave
	.cfi_def_cfa %rsp, 8
	jmp *%rax
	.cfi_endproc
BIND
