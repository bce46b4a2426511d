/**
 * Makes actions wait for each other.
 * @returns Does an action when all that it was given before have ended, well or not, and gives what the action gives.
 */
export function inTurn(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const done = last.then(action);
    last = done.catch(() => undefined);
    return done;
  };
}
