package featurecat.lizzie.util;

public class Utils {
  public static boolean isBlank(String text) {
    return text == null || text.trim().isEmpty();
  }

  public static String withQuote(String text) {
    return text;
  }
}
