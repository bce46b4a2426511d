import { useEffect } from "preact/hooks";

/** Names what is shown, for history and bookmarks. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Refute`;
  }, [title]);
}
