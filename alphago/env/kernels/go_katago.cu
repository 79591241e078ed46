// The kernels of Go with KataGo's planes: those of go.cu, and what is made of the text of go_katago.py.

#include "go.cu"
#include "go_row.py:pass_ends:copy"
#include "go_chains.py:count_beside"
#include "go_planes.py:write_constant:write_chain"
#include "go_ladders.py"
#include "go_katago.py"

// The array [lines, words] on which ladders are read, see go_ladders.py.
struct Boards {
    int* words;
    int shape[2];

    BOTH int* operator[](int line) const { return words + (Long)line * shape[1]; }
};

// Planes that are ready to be written in the network's layout.
template <typename T>
struct Ready {
    const float* planes;

    BOTH T number(int place, int size, int r, int c) const { return rounded<T>(planes[(place * size + r) * size + c]); }
};

// KataGo's planes: one thread of a block computes a board's, and all write them.
// out: numbers of `bytes` bytes, float or bfloat16. In one kernel, since the compiler takes long for each.
// board, plane, point, planes: as in PLANES_KERNELS. empty: the row of an empty board by simple ko. lines, line_words:
// the shape of Boards. scratch: int [places, per_board], where a board has its planes as float, the words of
// go_alive.py, and the Boards. A block has a place of its own; there may be fewer places than blocks.
KERNEL katago_planes_batch(int* rows, Long words, const Long* slots, Long n, void* out, Long board, Long plane,
                           Long point, Long planes, Long bytes, const int* empty, Long lines, Long line_words,
                           int* scratch, Long per_board, Long places) {
    if (BLOCK >= places) return;
    int size = empty[SIZE], count = (int)planes, to_plane = (int)plane, to_point = (int)point;
    int *own = scratch + BLOCK * per_board, *alive = own + planes * size * size;
    float* ready = (float*)own;
    Boards boards{own + per_board - lines * line_words, {(int)lines, (int)line_words}};
    for (Long i = BLOCK; i < n; i += BLOCKS < places ? BLOCKS : places) {
        if (MEMBER == 0) katago_planes(ROW, empty, boards, alive, ready);
        meet();
        if (bytes == sizeof(float))
            write_planes(Ready<float>{ready}, count, size, (float*)out + i * board, to_plane, to_point);
        else
            write_planes(Ready<Bfloat>{ready}, count, size, (Bfloat*)out + i * board, to_plane, to_point);
        meet();
    }
}
