package featurecat.lizzie.analysis;

import featurecat.lizzie.Lizzie;
import featurecat.lizzie.rules.Stone;
import java.awt.HeadlessException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Drives an engine by Lizzie's own Leelaz, which is compiled beside these classes.
 *
 * <p>The argument is the engine's command. Prints lines of "key: value".
 */
public class Drive {
  static final long PATIENCE = 600_000;

  static void until(String what, BooleanSupplier holds) throws InterruptedException {
    long end = System.currentTimeMillis() + PATIENCE;
    while (!holds.getAsBoolean()) {
      if (System.currentTimeMillis() > end) {
        System.out.println("none: " + what);
        Lizzie.gtpConsole.lines.forEach(System.out::println);
        System.exit(1);
      }
      Thread.sleep(5);
    }
  }

  /** Waits for the reply to the last command. Lizzie takes any other reply for the move that it has asked for. */
  static void settle() throws InterruptedException {
    until("reply", () -> Lizzie.gtpConsole.isAnswered());
  }

  /** Prints the candidates of a running analysis, as Lizzie has read them. */
  static void show(String title, Leelaz engine, int least) throws InterruptedException {
    until(title, () -> MoveData.getPlayouts(engine.getBestMoves()) >= least);
    List<MoveData> moves = engine.getBestMoves();
    for (MoveData move : moves)
      System.out.printf(
          "%s: %s %d %.4f %.4f %.4f %s%n",
          title,
          move.coordinate,
          move.playouts,
          move.winrate,
          move.policy,
          move.scoreMean,
          String.join(" ", move.variation));
  }

  public static void main(String[] arguments) throws Exception {
    Leelaz engine = Lizzie.leelaz = new Leelaz(arguments[0]);
    engine.gtpConsole = true;
    engine.startEngine();
    until("name", () -> Lizzie.recognised > 0);
    System.out.println("katago: " + engine.isKataGo);
    show("start", engine, 50);
    if (engine.isKataGo) until("ownership", () -> Lizzie.frame.estimate.size() > 0);
    System.out.println("ownership: " + Lizzie.frame.estimate.size());
    engine.playMove(Stone.BLACK, "D4");
    show("after D4", engine, 20);
    engine.playMove(Stone.WHITE, "E5");
    engine.undo();
    show("after undo", engine, 20);
    engine.komi(6.5);
    show("other komi", engine, 20);
    Lizzie.config.showKataGoEstimate = false;
    engine.playMove(Stone.WHITE, "pass");
    show("after a pass", engine, 20);
    engine.analyzeAvoid("allow", "b", "A1,B1,C1", 1);
    show("allowed", engine, 20);
    engine.togglePonder();
    Lizzie.frame.isPlayingAgainstLeelaz = true;
    engine.time_settings();
    settle();
    engine.genmove("B");
    until("genmove", () -> Lizzie.board.placed() == 1);
    settle();
    engine.genmove_analyze("W");
    until("lz-genmove_analyze", () -> Lizzie.board.placed() == 2);
    Lizzie.frame.isPlayingAgainstLeelaz = false;
    System.out.println("played: " + String.join(" ", Lizzie.board.placed));
    settle();
    engine.boardSize(9);
    engine.clear();
    engine.handicap(2);
    until("handicap", () -> Lizzie.board.handicap.size() == 2);
    engine.togglePonder();
    show("handicap", engine, 20);
    settle();
    try {
      engine.normalQuit();
    } catch (HeadlessException slow) {
      // Lizzie would show that the engine has not ended within five seconds: a slow machine.
    }
    long refused = Lizzie.gtpConsole.lines.stream().filter(line -> line.startsWith("?")).count();
    Lizzie.gtpConsole.lines.stream()
        .filter(line -> line.startsWith("> "))
        .forEach(System.out::println);
    System.out.println("refused: " + refused);
    System.exit(0);
  }
}
