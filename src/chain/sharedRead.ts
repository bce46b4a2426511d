/**
 * Shares answers between callers that ask at about the same time.
 * @param read Asks for an answer.
 * @returns Gives an answer to a question of the time `notBefore` or later (milliseconds of `performance.now`). A
 *   failure reaches the callers that wait for the answer, and no later caller.
 */
export function sharedRead<T>(read: () => Promise<T>): (notBefore: number) => Promise<T> {
  let last: { since: number; answer: Promise<T> } | undefined;
  return (notBefore) => {
    if (last !== undefined && last.since >= notBefore) return last.answer;
    const asked = { since: performance.now(), answer: read() };
    last = asked;
    asked.answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return asked.answer;
  };
}
