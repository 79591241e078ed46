package featurecat.lizzie.gui;

import java.awt.Container;
import java.util.ArrayList;
import java.util.ResourceBundle;

/** The window, which is not there. */
public class MainFrame extends Container {
  public static ResourceBundle resourceBundle;
  public boolean isPlayingAgainstLeelaz, isAutoEstimating, playerIsBlack;
  public final Zen zen = new Zen();
  public volatile ArrayList<Double> estimate = new ArrayList<>();

  public static class Zen {
    public void sendCommand(String command) {}

    public void countStones() {}
  }

  public void refresh() {}

  public void refresh(int kind) {}

  public void refreshBackground() {}

  public void updateTitle() {}

  public void updateBasicInfo() {}

  public void toggleGtpConsole() {}

  public void drawEstimateRectKata(ArrayList<Double> values) {
    estimate = values;
  }
}
