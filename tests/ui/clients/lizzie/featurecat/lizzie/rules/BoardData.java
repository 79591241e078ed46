package featurecat.lizzie.rules;

import featurecat.lizzie.analysis.MoveData;
import java.util.ArrayList;
import java.util.List;

public class BoardData {
  public boolean blackToPlay = true;
  public List<MoveData> bestMoves = new ArrayList<>();

  public void tryToClearBestMoves() {
    bestMoves = new ArrayList<>();
  }

  public void tryToSetBestMoves(List<MoveData> moves) {
    bestMoves = moves;
  }

  public static double getWinrateFromBestMoves(List<MoveData> moves) {
    return moves.get(0).winrate;
  }
}
