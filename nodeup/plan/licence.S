/* The licence that comes with docker's packages, for docker and containerd. */
	.section .rodata
	.global plan_apache_start
plan_apache_start:
	.incbin "LICENSE"
	.byte 0
	.section .note.GNU-stack, "", %progbits
