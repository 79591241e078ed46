// The kernels of a search, with the names of those for the CPU. `games` has the indices of n games; a thread does one.
// Scratch arrays that only the kernels for the CPU need have no name.

#include "gumbel.cuh"
#include "puct.cuh"
#include "subtrees.cuh"
#include "waves.cuh"

#define GAMES TREES, const Long *games, Long n
#define EACH_TREE EACH(i, n)
#define GAMES_TREE TREE(games[i])

KERNEL clear_all(GAMES) { EACH_TREE clear(GAMES_TREE); }

KERNEL restart_all(GAMES) { EACH_TREE restart(GAMES_TREE); }

KERNEL advance(GAMES, const int* played) { EACH_TREE play_action(GAMES_TREE, played[i]); }

// Writes a field of each child of the roots to the entry of its action. field: words [all, nodes]; out: words [n,
// actions], of which the other entries stay.
KERNEL read_children(GAMES, const int* field, Long, int* out, Long) {
    EACH_TREE {
        Tree tree = GAMES_TREE;
        EACH_CHILD(tree, ROOT, child) out[i * actions + tree.action[child]] = field[games[i] * nodes + child];
    }
}

// Mixes noise into the priors at the roots. noise: float [n, actions].
KERNEL mix_noise(GAMES, const float* noise, Long, double weight) {
    EACH_TREE mix_into_priors(GAMES_TREE, noise + i * actions, (float)weight);
}

// Makes the candidates children of the roots. noise: float [all, actions]; considered: int [n], their numbers.
KERNEL add_candidates(GAMES, const float* noise, Long, const int* considered, double*) {
    EACH_TREE make_candidates(GAMES_TREE, noise + games[i] * actions, considered[i]);
}

// The parameters of the rules, as in puct.py and gumbel.py one directory up.
#define PUCT const double *c_puct, double weight, double reduction, Long virtual_loss
#define PUCT_OF(game) Puct{c_puct[game], weight, reduction, virtual_loss}
#define GUMBEL \
    double c_visit, double c_scale, Long rounds, Long considered, const int *planned, const float *noise, Long
#define GUMBEL_OF(game) Gumbel{c_visit, c_scale, rounds != 0, considered, planned[game], noise + (game) * actions}

// Writes the roots' improved policies, float [n, actions], and the winners of sequential halving, int [n].
KERNEL improved_policy(GAMES, GUMBEL, float* policies, Long, int* winners) {
    EACH_TREE winners[i] = write_policy(GAMES_TREE, GUMBEL_OF(games[i]), policies + i * actions);
}

// Chooses new leaves in n games. budget: int [all]. Each game chooses `leaves` leaves at most, and has as many rows of
// the wave; the slots of the leaves are behind those of all games.
#define SELECT(NAME, PARAMETERS, RULE)                                                                   \
    KERNEL NAME(GAMES, int* budget, PARAMETERS, WAVE, Long leaves) {                                     \
        EACH_TREE {                                                                                      \
            Long slot = games[i], row = i * leaves;                                                      \
            select(TREE(slot), budget + slot, RULE(slot), slot, WAVE_FROM(row), (int)leaves, all + row); \
        }                                                                                                \
    }

SELECT(select_puct, PUCT, PUCT_OF)
SELECT(select_gumbel, GUMBEL, GUMBEL_OF)

// Chooses the n games of a wave: in the order of the games those with simulations left, then others. counts: int [1 +
// waves], the number of waves so far, and for each the number of games that had simulations left.
KERNEL choose_games(const int* budget, Long all, Long* chosen, Long n, int* counts) {
    EACH(game, all) {
        Long left = 0, before = 0;  // games with simulations left, and those of them before this one
        for (Long other = 0; other < all; other++) {
            left += budget[other] > 0;
            before += other < game && budget[other] > 0;
        }
        Long place = budget[game] > 0 ? before : left + game - before;
        if (place < n) chosen[place] = game;
        if (game == 0) counts[++counts[0]] = (int)left;
    }
}

// Makes the roots of games the leaves of a wave, a row each.
KERNEL select_roots(GAMES, WAVE) {
    EACH_TREE {
        Tree tree = GAMES_TREE;
        Wave wave = WAVE_FROM(i);
        tree.state[ROOT] = PENDING;
        tree.virtual_visits[ROOT] = 1;
        wave.game[0] = games[i];
        wave.leaf[0] = ROOT;
        wave.length[0] = 0;
    }
}

// Gives leaves whose mover can win at once the value 1, and all of the prior to the move that wins.
// decisive: int [n]; priors: float [n, actions]; values: float [n].
KERNEL decide(const int* decisive, float* priors, Long actions, float* values, Long n) {
    EACH(i, n) {
        if (decisive[i] == NONE) continue;
        values[i] = 1;
        for (Long action = 0; action < actions; action++) priors[i * actions + action] = action == decisive[i];
    }
}

// Writes the evaluations of the leaves of n games into the trees, and backs their values up. over, movers, outcomes: of
// the leaves, [rows] each; priors: float [rows, actions]; values: float [rows], used where the game is not over.
// broken: int [all], to which each game's number of unusable evaluations is added.
KERNEL expand(TREES, WAVE, const bool* over, const signed char* movers, const float* outcomes, const float* priors,
              Long, const float* values, int* broken, Long leaves, Long n) {
    EACH(i, n) {
        Wave wave = WAVE_FROM(i * leaves);
        if (wave.leaf[0] == NONE) continue;
        Tree tree = TREE(wave.game[0]);
        for (Long k = 0; k < leaves && wave.leaf[k] != NONE; k++) {
            Long row = i * leaves + k;
            float value = over[row] ? outcomes[row] : values[row];
            const float* own = priors + row * actions;
            broken[wave.game[0]] += expand_leaf(tree, wave.leaf[k], over[row], movers[row], own, value);
        }
        for (int* node = wave.collisions; node < wave.collisions + 2 * leaves && *node != NONE; node++) {
            add_virtual(tree, *node, -1);
            *node = NONE;
        }
    }
}
