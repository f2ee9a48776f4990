// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Context switches of simulated threads (x86-64 System V). A blocking call saves the callee-saved registers on the
// fiber's stack and calls its handler, which returns the thread to run next; then that thread's registers are
// restored and its call returns. Returning by `jmp` keeps the processor's return predictor out of it.
// The offsets 24 and 32 are those of ThreadView in Abi.h.
    .text

    .macro SAVE
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    .endm

    .macro RESTORE_AND_RETURN
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
    .endm

    .macro BLOCKING_CALL name
    .globl gpucSim\name
    .hidden gpucSim\name
    .hidden gpucSimHandle\name
    .type gpucSim\name, @function
gpucSim\name:
    SAVE
    movq %rsp, %rax
    movq %rsp, %r10
    shrq $10, %r10
    andq $-65536, %rax
    andl $4032, %r10d
    movq (%rax,%r10), %rax
    movq %rsp, 24(%rax)
    call gpucSimHandle\name
    movq 24(%rax), %rsp
    movq 32(%rax), %rax
    RESTORE_AND_RETURN
    .size gpucSim\name, .-gpucSim\name
    .endm

    BLOCKING_CALL Barrier
    BLOCKING_CALL SyncWarp
    BLOCKING_CALL Shuffle
    BLOCKING_CALL Ballot
    BLOCKING_CALL Ldmatrix
    BLOCKING_CALL Mma
    BLOCKING_CALL Stmatrix
    BLOCKING_CALL MbarrierWait
    BLOCKING_CALL WgmmaWait
    BLOCKING_CALL ClusterWait

// void gpucSimSwitch(void **save, void *load): leaves one stack for another.
    .globl gpucSimSwitch
    .hidden gpucSimSwitch
    .type gpucSimSwitch, @function
gpucSimSwitch:
    SAVE
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    RESTORE_AND_RETURN
    .size gpucSimSwitch, .-gpucSimSwitch

// [[noreturn]] void gpucSimResume(ThreadView *): continues a thread, leaving this stack for good.
    .globl gpucSimResume
    .hidden gpucSimResume
    .type gpucSimResume, @function
gpucSimResume:
    movq 24(%rdi), %rsp
    movq 32(%rdi), %rax
    RESTORE_AND_RETURN
    .size gpucSimResume, .-gpucSimResume

    .section .note.GNU-stack, "", @progbits
