/** Leaves out a test, or all tests of a suite from within a hook, and prints why. */
export function leaveOut(context: Mocha.Context, reason: string): never {
  console.log(`  left out: ${reason}`);
  return context.skip();
}
