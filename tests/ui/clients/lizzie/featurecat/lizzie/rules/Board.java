package featurecat.lizzie.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What Leelaz.java asks of the board, and a record of what it does to it. */
public class Board {
  public static int boardWidth = 7, boardHeight = 7;
  public boolean isAvoding, isKeepingAvoid;
  public String avoidCoords = "";
  public final List<String> placed = new ArrayList<>(), handicap = new ArrayList<>();
  private final BoardData data = new BoardData();
  private final History history = new History();

  public class History {
    public Info getGameInfo() {
      return new Info();
    }

    public void setStone(int[] place, Stone stone) {
      handicap.add(stone + " " + place[0]);
    }

    public boolean isBlacksTurn() {
      return true;
    }
  }

  public static class Info {
    public double getKomi() {
      return 7.5;
    }
  }

  public BoardData getData() {
    return data;
  }

  public History getHistory() {
    return history;
  }

  public boolean inAnalysisMode() {
    return true;
  }

  public synchronized void place(String move) {
    placed.add(move);
  }

  public synchronized int placed() {
    return placed.size();
  }

  public Optional<int[]> asCoordinates(String name) {
    return Optional.of(new int[] {name.charAt(0)});
  }

  public void clear() {}
}
