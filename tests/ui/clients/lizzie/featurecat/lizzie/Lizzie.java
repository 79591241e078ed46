package featurecat.lizzie;

import featurecat.lizzie.analysis.Leelaz;
import featurecat.lizzie.gui.MainFrame;
import featurecat.lizzie.rules.Board;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONObject;

/** Lizzie without its windows: the global objects that Leelaz.java uses. */
public class Lizzie {
  public static Config config = new Config();
  public static MainFrame frame = new MainFrame();
  public static Board board = new Board();
  public static Leelaz leelaz;
  public static Console gtpConsole = new Console();
  public static EngineManager engineManager = new EngineManager();
  public static volatile int recognised = 0;

  public static class Config {
    public boolean showLcbWinrate, showKataGoEstimate = true;
    public int limitBranchLength, limitBestMoveNum;
    public JSONObject config =
        new JSONObject()
            .put(
                "leelaz",
                new JSONObject()
                    .put("print-comms", false)
                    .put("max-analyze-time-minutes", 99999)
                    .put("analyze-update-interval-centisec", 10)
                    .put("avoid-keep-variations", 30)
                    .put("max-game-thinking-time-seconds", 2));
  }

  public static class Console {
    public final List<String> lines = new ArrayList<>();

    private int sent = 0, answered = 0; // numbers of commands

    public synchronized void addLine(String line) {
      if (line.matches("(?s)[=?]\\d+.*")) answered = Integer.parseInt(line.trim().substring(1).split(" ")[0]);
      lines.add(line.trim());
    }

    public synchronized void addCommand(String command, int number) {
      sent = number;
      lines.add("> " + number + " " + command);
    }

    public synchronized boolean isAnswered() {
      return answered >= sent;
    }

    public boolean isVisible() {
      return true;
    }
  }

  public static class EngineManager {
    public void updateEngineIcon() {}
  }

  public static void initializeAfterVersionCheck(Leelaz engine) {
    recognised++;
    engine.togglePonder();
  }
}
