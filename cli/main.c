#include <stdio.h>

int main(void) {
    printf("ptxvet %s\n", PTXVET_VERSION);
    return 0;
}
