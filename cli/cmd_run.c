#include "cli/confirm.h"

#include "driver/driver.h"

void confirm_launch(const struct judging *judging, struct worker *worker, struct record_file *file,
                    const struct module_facts *facts, const struct judgement *judgement,
                    struct record_launch *record) {
    struct driver_request request = {.probe = true, .timeout = 10, .repeat = 1};
    struct driver_outcome outcome = {0};
    (void)judging;
    (void)facts;
    (void)judgement;
    driver_launch(&request, &worker->records, &outcome);
    if (outcome.status != DRIVER_ANSWERED) file->failure = outcome.failure;
    record->has_actual = false;
}
