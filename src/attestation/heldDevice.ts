import { createServer, type Socket } from "node:net";
import type { SoftwareDevice } from "./device.ts";
import { claimFolder, releaseFolder } from "./deviceFolder.ts";
import { answerConnection } from "./dongleServer.ts";
import { openDevice } from "./standInDevice.ts";

/** Connections at once. More are closed. */
const MAX_CONNECTIONS = 16;

/** A stand-in that this process alone uses. */
export type HeldDevice = {
  device: SoftwareDevice;
  /** The path of the socket in its folder. Before `serve`, connections to it are closed at once. */
  socket: string;
  /** Answers requests at the socket. @param onSigned Called with the counter of each signed report. */
  serve: (onSigned: (seq: bigint) => void) => void;
  release: () => Promise<void>;
};

/** Takes the device of a folder. @throws DeviceInUseError, StandInFileError */
export async function holdDevice(folder: string): Promise<HeldDevice> {
  const sockets = new Set<Socket>();
  let handle = (socket: Socket): void => void socket.destroy();
  const server = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)));
    handle(socket);
  });
  server.maxConnections = MAX_CONNECTIONS;
  const path = await claimFolder(folder, server);
  const release = (): Promise<void> => {
    const released = releaseFolder(path, server);
    for (const socket of sockets) socket.destroy();
    return released;
  };
  try {
    // Not before the folder is claimed: its counter may have been another's.
    const device = openDevice(folder);
    const serve: HeldDevice["serve"] = (onSigned) => {
      handle = (socket) => answerConnection(socket, device, onSigned);
    };
    return { device, socket: path, serve, release };
  } catch (error) {
    await release();
    throw error;
  }
}
