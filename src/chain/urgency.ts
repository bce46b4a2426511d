/** How many actions with a deadline run at the same time. */
const URGENT_AT_ONCE = 8;

type Waiting = { by: number; begin: () => Promise<void> };

/**
 * Runs actions by urgency. Actions with a deadline begin first, the earliest deadline first, several at the same time.
 * Actions without a deadline run one after the other, in the order of arrival. One of these actions begins only if no
 * action with a deadline waits.
 * @returns Runs an action, and gives what the action gives. `by` is the deadline, in any unit; Infinity for none.
 */
export function byUrgency(): <T>(action: () => Promise<T>, by: number) => Promise<T> {
  const waiting: Waiting[] = [];
  const running = { urgent: 0, other: 0 };
  const beginNext = (): void => {
    const [next] = waiting;
    if (next === undefined) return;
    const kind = next.by < Infinity ? "urgent" : "other";
    if (running[kind] >= (kind === "urgent" ? URGENT_AT_ONCE : 1)) return;
    waiting.shift();
    running[kind]++;
    void next.begin().finally(() => {
      running[kind]--;
      beginNext();
    });
    beginNext();
  };
  return (action, by) =>
    new Promise((resolve, reject) => {
      const begin = (): Promise<void> => Promise.resolve().then(action).then(resolve, reject);
      const place = waiting.findIndex((other) => other.by > by);
      waiting.splice(place < 0 ? waiting.length : place, 0, { by, begin });
      beginNext();
    });
}
