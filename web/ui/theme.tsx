import { useEffect, useState } from "preact/hooks";

const NEXT = { auto: "light", light: "dark", dark: "auto" } as const;
type Theme = keyof typeof NEXT;
const KEY = "refute-theme";

function stored(): Theme {
  const value = inStorage(() => localStorage.getItem(KEY));
  return value === "light" || value === "dark" ? value : "auto";
}

/** Browsers may forbid storage: then the choice is not kept. */
function inStorage<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

/** Light, dark, or what the system says; kept in this browser. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    inStorage(() => localStorage.setItem(KEY, theme));
  }, [theme]);
  return (
    <button class="button small" type="button" onClick={() => setTheme(NEXT[theme])}>
      Colours: {theme}
    </button>
  );
}
