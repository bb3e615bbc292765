#include "analyzer/facts/cfg.h"

uint32_t cfg_target(const struct body *body, const struct operand *operand) {
    if (operand->kind != OPERAND_LABEL || operand->label >= body->labels.n) return NO_INDEX;
    return body->labels.at[operand->label].instruction;
}

bool cfg_indirect_targets(const struct body *body, const struct instruction *instruction,
                          uint32_t *first, uint32_t *count) {
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &body->operands.at[instruction->operand_first + i];
        if (operand->kind != OPERAND_LABEL || operand->label >= body->labels.n) continue;
        uint32_t list = body->labels.at[operand->label].list;
        if (list == NO_INDEX || list >= body->label_lists.n) continue;
        *first = body->label_lists.at[list].element_first;
        *count = body->label_lists.at[list].element_count;
        return true;
    }
    return false;
}

// A call of a function declared .noreturn ends the path as a trap does.
static bool call_never_returns(const struct module *module, const struct body *body,
                               const struct instruction *instruction) {
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct operand *operand = &body->operands.at[instruction->operand_first + i];
        if (operand->kind == OPERAND_FUNC && operand->function < module->functions.n)
            return function_directive(&module->functions.at[operand->function],
                                      DIRECTIVE_NORETURN) != NULL;
    }
    return false;
}

enum cfg_kind cfg_kind(const struct module *module, const struct body *body,
                       const struct instruction *instruction) {
    switch (module->forms.at[instruction->form].opcode) {
    case OP_bra: return CFG_BRANCH;
    case OP_brx: return CFG_INDIRECT;
    case OP_ret: return CFG_RETURN;
    case OP_exit: return CFG_EXIT;
    case OP_trap: return CFG_TRAP;
    case OP_call: return call_never_returns(module, body, instruction) ? CFG_NORETURN_CALL : CFG_NONE;
    default: return CFG_NONE;
    }
}

static void mark_leader(bool *leader, uint32_t n, uint32_t instruction) {
    if (instruction < n) leader[instruction] = true;
}

static void find_leaders(const struct module *module, const struct body *body, bool *leader) {
    uint32_t n = body->instructions.n;
    mark_leader(leader, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct instruction *instruction = &body->instructions.at[i];
        enum cfg_kind kind = cfg_kind(module, body, instruction);
        if (kind != CFG_NONE) mark_leader(leader, n, i + 1);
    }
    for (uint32_t i = 0; i < body->labels.n; i++)
        if (body->labels.at[i].kind == LABEL_PLAIN)
            mark_leader(leader, n, body->labels.at[i].instruction);
}

static void cut_blocks(const struct body *body, const bool *leader, struct arena *arena,
                       struct cfg *cfg) {
    uint32_t n = body->instructions.n;
    cfg->block_of = arena_array(arena, uint32_t, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        if (leader[i]) {
            struct cfg_block *block = vec_push(arena, &cfg->blocks);
            *block = (struct cfg_block){.first = i, .ipdom = NO_INDEX, .order = NO_INDEX};
        }
        cfg->block_of[i] = cfg->blocks.n - 1;
        cfg->blocks.at[cfg->blocks.n - 1].end = i + 1;
    }
}

static void add_edge(struct cfg *cfg, struct arena *arena, struct cfg_block *block,
                     uint32_t instruction, uint32_t count) {
    if (instruction >= count) {  // an unknown label, or one at the end of the body
        block->leaves = true;
        return;
    }
    *vec_push(arena, &cfg->edges) = cfg->block_of[instruction];
    block->succ_count++;
}

static void find_edges(const struct module *module, const struct body *body, struct arena *arena,
                       struct cfg *cfg) {
    uint32_t n = body->instructions.n;
    for (uint32_t b = 0; b < cfg->blocks.n; b++) {
        struct cfg_block *block = &cfg->blocks.at[b];
        const struct instruction *last = &body->instructions.at[block->end - 1];
        enum cfg_kind kind = cfg_kind(module, body, last);
        block->succ_first = cfg->edges.n;
        if (kind == CFG_BRANCH && last->operand_count > 0) {
            uint32_t target = cfg_target(body, &body->operands.at[last->operand_first]);
            add_edge(cfg, arena, block, target, n);
        } else if (kind == CFG_INDIRECT) {
            uint32_t first = 0, count = 0;
            if (!cfg_indirect_targets(body, last, &first, &count)) block->leaves = true;
            for (uint32_t i = 0; i < count; i++)
                add_edge(cfg, arena, block, cfg_target(body, &body->elements.at[first + i]), n);
        } else if (kind != CFG_NONE) {
            block->leaves = true;
        }
        if (kind == CFG_NONE || last->guard != GUARD_NONE) add_edge(cfg, arena, block, block->end, n);
    }
}

static void find_predecessors(struct arena *arena, struct cfg *cfg) {
    for (uint32_t i = 0; i < cfg->edges.n; i++) cfg->blocks.at[cfg->edges.at[i]].pred_count++;
    uint32_t at = 0;
    for (uint32_t b = 0; b < cfg->blocks.n; b++) {
        cfg->blocks.at[b].pred_first = at;
        at += cfg->blocks.at[b].pred_count;
        cfg->blocks.at[b].pred_count = 0;
    }
    for (uint32_t i = 0; i < at; i++) vec_push(arena, &cfg->pred_edges);
    for (uint32_t b = 0; b < cfg->blocks.n; b++) {
        const struct cfg_block *block = &cfg->blocks.at[b];
        for (uint32_t i = 0; i < block->succ_count; i++) {
            struct cfg_block *to = &cfg->blocks.at[cfg->edges.at[block->succ_first + i]];
            cfg->pred_edges.at[to->pred_first + to->pred_count++] = b;
        }
    }
}

// A depth-first walk with its own stack: block and next edge to follow.
struct walk { uint32_t block, next; };

static void find_order(struct arena *arena, struct cfg *cfg) {
    uint32_t n = cfg->blocks.n, depth = 0, done = 0;
    struct walk *stack = arena_array(arena, struct walk, n);
    bool *seen = arena_array(arena, bool, n);
    uint32_t *post = arena_array(arena, uint32_t, n);
    stack[depth++] = (struct walk){0, 0};
    seen[0] = true;
    while (depth > 0) {
        struct walk *top = &stack[depth - 1];
        const struct cfg_block *block = &cfg->blocks.at[top->block];
        if (top->next < block->succ_count) {
            uint32_t to = cfg->edges.at[block->succ_first + top->next++];
            if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = (struct walk){to, 0};
            }
        } else {
            post[done++] = top->block;
            depth--;
        }
    }
    for (uint32_t i = done; i-- > 0;) {
        cfg->blocks.at[post[i]].order = cfg->order.n;
        *vec_push(arena, &cfg->order) = post[i];
    }
}

// Post-dominators: dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm") of
// the reversed graph from a virtual exit, numbered blocks.n. Blocks from which no path leaves
// (endless loops) have none.
struct reverse {
    uint32_t *number;  // by block: position in the reversed graph's reverse post-order
    uint32_t *ipdom;   // by block, and blocks.n for the exit
    uint32_t *order;   // blocks by that position
    uint32_t count;
};

static uint32_t meet_reverse(const struct reverse *reverse, uint32_t a, uint32_t b) {
    while (a != b) {
        while (reverse->number[a] > reverse->number[b]) a = reverse->ipdom[a];
        while (reverse->number[b] > reverse->number[a]) b = reverse->ipdom[b];
    }
    return a;
}

static void walk_back(const struct cfg *cfg, uint32_t start, struct walk *stack, bool *seen,
                      uint32_t *post, uint32_t *done) {
    uint32_t depth = 0;
    stack[depth++] = (struct walk){start, 0};
    seen[start] = true;
    while (depth > 0) {
        struct walk *top = &stack[depth - 1];
        const struct cfg_block *block = &cfg->blocks.at[top->block];
        if (top->next < block->pred_count) {
            uint32_t to = cfg->pred_edges.at[block->pred_first + top->next++];
            if (!seen[to] && cfg->blocks.at[to].order != NO_INDEX) {
                seen[to] = true;
                stack[depth++] = (struct walk){to, 0};
            }
        } else {
            post[(*done)++] = top->block;
            depth--;
        }
    }
}

static void order_reverse(struct arena *arena, const struct cfg *cfg, struct reverse *reverse) {
    uint32_t n = cfg->blocks.n, done = 0;
    bool *seen = arena_array(arena, bool, n);
    uint32_t *post = arena_array(arena, uint32_t, n);
    struct walk *stack = arena_array(arena, struct walk, n);
    for (uint32_t b = 0; b < n; b++) {
        const struct cfg_block *block = &cfg->blocks.at[b];
        if (block->leaves && block->order != NO_INDEX && !seen[b])
            walk_back(cfg, b, stack, seen, post, &done);
    }
    for (uint32_t i = done; i-- > 0;) {
        reverse->order[reverse->count] = post[i];
        reverse->number[post[i]] = ++reverse->count;  // the exit has number 0
    }
}

static uint32_t reverse_idom(const struct cfg *cfg, const struct reverse *reverse, uint32_t b) {
    const struct cfg_block *block = &cfg->blocks.at[b];
    uint32_t exit = cfg->blocks.n, idom = block->leaves ? exit : NO_INDEX;
    for (uint32_t j = 0; j < block->succ_count; j++) {
        uint32_t to = cfg->edges.at[block->succ_first + j];
        if (reverse->ipdom[to] == NO_INDEX) continue;
        idom = idom == NO_INDEX ? to : meet_reverse(reverse, to, idom);
    }
    return idom;
}

static void find_post_dominators(struct arena *arena, struct cfg *cfg) {
    uint32_t n = cfg->blocks.n;
    struct reverse reverse = {arena_array(arena, uint32_t, n + 1), arena_array(arena, uint32_t, n + 1),
                              arena_array(arena, uint32_t, n), 0};
    memset(reverse.ipdom, 0xff, (n + 1) * sizeof *reverse.ipdom);
    reverse.ipdom[n] = n;
    order_reverse(arena, cfg, &reverse);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < reverse.count; i++) {
            uint32_t b = reverse.order[i], idom = reverse_idom(cfg, &reverse, b);
            if (idom != reverse.ipdom[b]) {
                reverse.ipdom[b] = idom;
                changed = true;
            }
        }
    }
    for (uint32_t b = 0; b < n; b++) {
        cfg->blocks.at[b].can_leave = reverse.number[b] != 0;
        cfg->blocks.at[b].ipdom = reverse.ipdom[b] == n ? NO_INDEX : reverse.ipdom[b];
    }
}

void cfg_build(const struct module *module, const struct body *body, struct arena *arena,
               struct cfg *cfg) {
    memset(cfg, 0, sizeof *cfg);
    if (body->instructions.n == 0) return;
    bool *leader = arena_array(arena, bool, body->instructions.n);
    find_leaders(module, body, leader);
    cut_blocks(body, leader, arena, cfg);
    find_edges(module, body, arena, cfg);
    find_predecessors(arena, cfg);
    find_order(arena, cfg);
    find_post_dominators(arena, cfg);
}
