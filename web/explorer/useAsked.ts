import { asked as translated } from "./deployment.ts";
import { useEffect, useRef, useState } from "preact/hooks";

/** What was asked: the latest answer, or why there is none. */
type Asked<T> = { answer?: T; error?: unknown };

/**
 * Asks when something is shown, and again when `key` has another value and the last answer is there.
 * @param key Of an answer: the block, for example.
 */
export function useAsked<T>(ask: () => Promise<T>, key: unknown): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({});
  const [settled, setSettled] = useState<unknown>();
  const running = useRef(false);
  useEffect(() => {
    if (running.current || settled === key) return;
    running.current = true;
    translated("asking the node", ask())
      .then(
        (answer) => setAsked({ answer }),
        (error: unknown) => setAsked((before) => ({ ...before, error })),
      )
      .finally(() => {
        running.current = false;
        setSettled(key);
      });
  }, [key, settled]);
  return asked;
}
