"""One position: the network's policy, value and forecast of the points, then a search.

Black can win a race on 7x7, if Black begins.
"""

import argparse

from alphago import GoEnv, MCTSPlayer, load_model


def main() -> None:
    parser = argparse.ArgumentParser(description="Searches a position of 7x7 and prints the result.")
    parser.add_argument("--black", default="C5 C4 C3 D2 E2", help="Black's stones")
    parser.add_argument("--white", default="D5 D4 D3 E3 E5", help="White's stones")
    parser.add_argument("--to-play", default="black", choices=("black", "white"))
    parser.add_argument("--readouts", type=int, default=800, help="simulations (800)")
    arguments = parser.parse_args()

    env = GoEnv(7)
    net = load_model("7x7", env)
    position = env.position(arguments.black, arguments.white, to_play=arguments.to_play)
    print(position)

    player = MCTSPlayer(env, net, num_readouts=arguments.readouts, two_player_mode=True)
    player.initialize_game(position)
    # Before any search this is the network's evaluation, as searches compute it, in 8 bits where that is faster.
    alone = player.analysis()
    best = alone.prior[0].argsort()[::-1][:5]
    print(f"the network alone: value {alone.value[0]:+.3f} for {arguments.to_play}, ", end="")
    print(", ".join(f"{env.to_text(int(action))} {alone.prior[0, action]:.3f}" for action in best))
    forecast = net.forecast(position)
    print(
        f"it expects Black to be {forecast.score:+.1f} points ahead, and to own {(forecast.ownership > 0).sum()} points"
    )

    action = player.suggest_move()
    print(player.analysis().describe())
    print(f"the search plays {env.to_text(action)}")


if __name__ == "__main__":
    main()
