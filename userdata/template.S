/* script.sh.in as bytes, for script.c. */
	.section .rodata
	.global userdata_script_start, userdata_script_end
userdata_script_start:
	.incbin "userdata/script.sh.in"
userdata_script_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
