/** How many actions with a deadline run at the same time. */
const URGENT_AT_ONCE = 8;
/** After this many actions with a deadline, an action without a deadline begins although others with one wait. */
const URGENT_IN_A_ROW = 16;

type Waiting = { by: number; begin: () => Promise<void> };

/**
 * Runs actions by urgency. Actions with a deadline begin first, the earliest deadline first, several at the same time.
 * Actions after their deadline begin after all actions with time left. Actions without a deadline run one after the
 * other, in the order of arrival. One of these actions begins if no action with a deadline waits, or after 16 actions
 * with a deadline.
 * @param now The chain's time, in the unit of the deadlines; -Infinity while unknown.
 * @returns Runs an action, and gives what the action gives. `by` is the deadline; Infinity for none.
 */
export function byUrgency(now: () => number): <T>(action: () => Promise<T>, by: number) => Promise<T> {
  const urgent: Waiting[] = [];
  const others: Waiting[] = [];
  const running = { urgent: 0, other: 0 };
  let inARow = 0;
  const run = (kind: keyof typeof running, { begin }: Waiting): void => {
    inARow = kind === "urgent" ? inARow + 1 : 0;
    running[kind]++;
    void begin().finally(() => {
      running[kind]--;
      beginNext();
    });
    beginNext();
  };
  const beginNext = (): void => {
    const isTurnOfOthers = urgent.length === 0 || inARow >= URGENT_IN_A_ROW;
    const [other] = others;
    if (other !== undefined && isTurnOfOthers && running.other === 0) return run("other", others.shift()!);
    if (urgent.length === 0 || running.urgent >= URGENT_AT_ONCE) return;
    const time = now();
    // The next block is later than the latest block.
    const first = urgent.findIndex(({ by }) => by > time);
    run("urgent", urgent.splice(Math.max(first, 0), 1)[0]!);
  };
  return (action, by) =>
    new Promise((resolve, reject) => {
      const begin = (): Promise<void> => Promise.resolve().then(action).then(resolve, reject);
      if (by === Infinity) others.push({ by, begin });
      else {
        const place = urgent.findIndex((waiting) => waiting.by > by);
        urgent.splice(place < 0 ? urgent.length : place, 0, { by, begin });
      }
      beginNext();
    });
}
