import { useEffect, useRef, useState } from "preact/hooks";
import { endThread, startThread } from "../playground/thread.ts";
import type { Answer, CheckedReceipt, ReceiptCheck } from "../playground/messages.ts";

/** How far a check is, or what came of it. */
type CheckState = {
  busy?: { what: string; done: number; total: number };
  checked?: CheckedReceipt;
  error?: string;
};

export type Check = { state: CheckState; start: (check: ReceiptCheck) => void; cancel: () => void };

/** Checks receipts in a thread, so that the page stays usable. */
export function useCheck(): Check {
  const [state, setState] = useState<CheckState>({});
  const thread = useRef<Worker | undefined>(undefined);
  const stop = (): void => {
    if (thread.current !== undefined) endThread(thread.current);
    thread.current = undefined;
  };
  useEffect(() => stop, []);
  const take = (answer: Answer): void => {
    if (answer.kind === "progress") return setState({ busy: answer });
    stop();
    if (answer.kind === "checked") setState({ checked: answer.checked });
    if (answer.kind === "failed") setState({ error: answer.message });
  };
  return {
    state,
    start: (check) => {
      stop();
      setState({ busy: { what: "starting", done: 0, total: 1 } });
      thread.current = startThread(take);
      thread.current.postMessage({ kind: "check", ...check });
    },
    cancel: () => {
      stop();
      setState({});
    },
  };
}
