import { Pool } from "pg";
import { jwtVerify } from "jose";
import { plans } from "./plans";

/** Says what a reader may read. */
export async function entitlements(token: string): Promise<string[]> {
  const { payload } = await jwtVerify(token, new TextEncoder().encode(process.env.KEY));
  return plans(String(payload.sub));
}
