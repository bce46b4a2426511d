import { temporaryFolder } from "../../src/deploy/devnet/temporaryFolder.ts";

// Imported, as it imports commands: a module that is required and imported is there twice, with other error classes.
const { runCommandLine } = await import("../../src/cli/commandLine.ts");

/** No test reads or writes the caches of the user. All files of tests in a process share this folder. */
const { path: cache } = temporaryFolder("refute-cache-");

/**
 * Runs the command line in this process: exit status, what it printed line by line, and the same by where it went; a
 * text that it printed in pieces.
 */
export async function refute(args: readonly string[], env: Record<string, string> = {}) {
  const lines: string[] = [];
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const pieces: string[] = [];
  const { log, error } = console;
  const write = process.stderr.write.bind(process.stderr);
  const writeOut = process.stdout.write.bind(process.stdout);
  const into = (stream: string[]) => (text: unknown) => {
    lines.push(String(text));
    stream.push(String(text));
  };
  console.log = into(stdout);
  console.error = into(stderr);
  process.stderr.write = (text) => (into(stderr)(text), true);
  process.stdout.write = (text) => pieces.push(String(text)) > 0;
  const before = { ...process.env };
  Object.assign(process.env, { REFUTE_CACHE: cache }, env);
  try {
    const status = await runCommandLine(args);
    const [output, out, err] = [lines, stdout, stderr].map((all) => all.join("\n")) as [string, string, string];
    return { status, output, stdout: out, stderr: err, text: pieces.join("") };
  } finally {
    console.log = log;
    console.error = error;
    process.stderr.write = write;
    process.stdout.write = writeOut;
    process.env = before;
  }
}
