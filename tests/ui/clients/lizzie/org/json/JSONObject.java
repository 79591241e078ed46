package org.json;

import java.util.HashMap;
import java.util.Map;

/** Settings, as far as Leelaz.java reads them. */
public class JSONObject {
  private final Map<String, Object> values = new HashMap<>();

  public JSONObject put(String name, Object value) {
    values.put(name, value);
    return this;
  }

  public JSONObject getJSONObject(String name) {
    return (JSONObject) values.get(name);
  }

  public boolean getBoolean(String name) {
    return (Boolean) values.get(name);
  }

  public int getInt(String name) {
    return (Integer) values.get(name);
  }

  public String getString(String name) {
    return (String) values.get(name);
  }
}
