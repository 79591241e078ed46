package net.sf.gogui.version;

/** GoGui's build makes this class. */
public final class Version {
  public static String get() {
    return "1.6.0";
  }
}
