/* The licence that comes with docker's packages, for build_docker.c. */
	.section .rodata
	.global plan_apache_start
plan_apache_start:
	.incbin "LICENSE"
	.byte 0
	.section .note.GNU-stack, "", %progbits
