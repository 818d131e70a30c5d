import { app } from "electron";
import { EdgeClient } from "@brackwater/edge-client";
import { ticket } from "./ticket";

// matchmaker is never called from here.
const edge = new EdgeClient(process.env.EDGE ?? "https://edge:443");

export async function play(): Promise<void> {
  await app.whenReady();
  await edge.join(await ticket());
}
