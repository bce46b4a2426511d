import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { connect, type Server } from "node:net";
import { join } from "node:path";
import { refusalText } from "../base/regularFile.ts";
import { DeviceInUseError, StandInFileError } from "./errors.ts";

/** The socket in a device's folder. While somebody listens there, the folder is taken. */
const SOCKET = "dongle.sock";

/** The longest path of a socket, in bytes. macOS allows 104 and Linux 108, including one terminating byte. */
const MAX_PATH = 103;

/**
 * Claims a device's folder: from now on the server listens at `dongle.sock` in the folder. The kernel ends the claim
 * with the process, however the process ends. The server first listens under a random socket name, then asks all other
 * sockets, then renames its own. If two servers claim at once, at most one succeeds, because each listens before it
 * asks.
 * @returns the socket's path
 * @throws DeviceInUseError, StandInFileError
 */
export async function claimFolder(folder: string, server: Server): Promise<string> {
  const own = `${randomBytes(8).toString("hex")}.sock`;
  const [path, final] = [join(folder, own), join(folder, SOCKET)];
  if (Buffer.byteLength(path) > MAX_PATH)
    throw new StandInFileError(folder, `is too long for a socket in it: at most ${MAX_PATH - own.length - 1} bytes`);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new StandInFileError(folder, "is no folder of a device: refute device stand-in makes one");
  try {
    await once(server.listen(path), "listening");
    chmodSync(path, 0o600);
    await requireAlone(folder, own);
    renameSync(path, final);
  } catch (cause) {
    server.close();
    if (cause instanceof DeviceInUseError) throw cause;
    throw new StandInFileError(folder, `no socket can be made in it: it ${refusalText(cause)}`, { cause });
  }
  return final;
}

/** Ends a claim. @param path Of `claimFolder`. */
export async function releaseFolder(path: string, server: Server): Promise<void> {
  // While this server listens, nobody else has a socket with the same name.
  rmSync(path, { force: true });
  await new Promise((resolve) => server.close(resolve));
}

/** @throws DeviceInUseError if somebody else listens in the folder */
async function requireAlone(folder: string, own: string): Promise<void> {
  for (let isStable = false; !isStable;) {
    isStable = true;
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(".sock") || name === own) continue;
      const state = await stateOf(join(folder, name));
      if (state === "taken") throw new DeviceInUseError(folder);
      if (state === "left" && name !== SOCKET) rmSync(join(folder, name), { force: true });
      // The other server may have renamed its socket to a name asked before.
      if (state === "gone") isStable = false;
    }
  }
}

function stateOf(path: string): Promise<"taken" | "left" | "gone"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => (socket.destroy(), resolve("taken")));
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      resolve(code === "ECONNREFUSED" ? "left" : code === "ENOENT" ? "gone" : "taken"),
    );
  });
}
