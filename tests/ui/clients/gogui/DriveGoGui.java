import java.util.ArrayList;
import net.sf.gogui.game.TimeSettings;
import net.sf.gogui.go.Board;
import net.sf.gogui.go.GoColor;
import net.sf.gogui.go.GoPoint;
import net.sf.gogui.go.Komi;
import net.sf.gogui.go.Move;
import net.sf.gogui.go.PointList;
import net.sf.gogui.gtp.AnalyzeCommand;
import net.sf.gogui.gtp.AnalyzeDefinition;
import net.sf.gogui.gtp.BoardParameters;
import net.sf.gogui.gtp.GtpClient;
import net.sf.gogui.gtp.GtpClientUtil;
import net.sf.gogui.gtp.GtpSynchronizer;
import net.sf.gogui.gtp.GtpUtil;
import net.sf.gogui.gui.AnalyzeShow;
import net.sf.gogui.gui.GuiBoard;

/**
 * Drives an engine by GoGui's own classes, without its window.
 *
 * <p>The argument is the engine's command. Prints lines of "key: value".
 */
public class DriveGoGui {
  static final int SIZE = 7;

  /** The stones on the engine's board and on GoGui's must be the same. */
  static void compare(GtpClient engine, Board board, String title) throws Exception {
    PointList listed = new PointList();
    for (GoColor color : new GoColor[] {GoColor.BLACK, GoColor.WHITE})
      for (GoPoint point : board) if (board.getColor(point) == color) listed.add(point);
    for (String status : new String[] {"alive", "dead", "seki"})
      for (GoPoint point :
          GtpUtil.parsePointList(engine.send("final_status_list " + status), board.getSize()))
        if (!listed.remove(point)) throw new Exception(title + ": no stone on " + point);
    System.out.println(title + ": " + (listed.isEmpty() ? "same" : "missing " + listed));
  }

  static void play(GtpSynchronizer to, Board board, GoColor color, String point) throws Exception {
    Move move = Move.get(color, GtpUtil.parsePoint(point, board.getSize()));
    to.updateHumanMove(board, move);
    board.play(move);
  }

  public static void main(String[] arguments) throws Exception {
    GtpClient engine = new GtpClient(arguments[0], null, false, null);
    engine.queryProtocolVersion();
    engine.queryName();
    engine.querySupportedCommands();
    engine.queryInterruptSupport();
    System.out.println("name: " + engine.getName() + " " + engine.queryVersion());
    System.out.println("protocol: " + engine.getProtocolVersion());
    System.out.println("genmove: " + engine.isGenmoveSupported());

    Board board = new Board(new BoardParameters(SIZE));
    GtpSynchronizer keeper = new GtpSynchronizer(engine);
    TimeSettings time = new TimeSettings(600_000);
    keeper.init(board, new Komi(7.5), time);
    play(keeper, board, GoColor.BLACK, "D4");
    play(keeper, board, GoColor.WHITE, "C5");
    String answer = engine.send(engine.getCommandGenmove(GoColor.BLACK));
    board.play(Move.get(GoColor.BLACK, GtpUtil.parsePoint(answer, SIZE)));
    keeper.updateAfterGenmove(board);
    compare(engine, board, "after genmove");
    board.undo(2);
    keeper.synchronize(board, new Komi(6.5), time);
    compare(engine, board, "after undo");

    String listed = GtpClientUtil.getAnalyzeCommands(engine);
    ArrayList<AnalyzeDefinition> known =
        AnalyzeDefinition.read(engine.getSupportedCommands(), null, listed);
    for (AnalyzeDefinition definition : known) {
      AnalyzeCommand command = new AnalyzeCommand(definition);
      GuiBoard shown = new GuiBoard(board.getParameters());
      String response = engine.send(command.replaceWildCards(board.getToMove()));
      StringBuilder text = new StringBuilder();
      AnalyzeShow.show(command, shown, null, board, response, text);
      int labels = 0;
      for (GoPoint point : board) if (!shown.getLabel(point).equals("")) labels++;
      System.out.printf("%s: %s, %d labels%n", definition.getCommand(), definition.getType(), labels);
    }

    Board other = new Board(new BoardParameters(9));
    other.setupHandicap(Board.getHandicapStones(9, 4));
    keeper.synchronize(other, new Komi(0.5), time);
    play(keeper, other, GoColor.WHITE, "E5");
    compare(engine, other, "handicap");
    System.out.println("cpu time: " + (engine.getCpuTime() >= 0));
    System.out.println("score: " + engine.send("final_score"));
    engine.send("quit");
    engine.waitForExit();
  }
}
