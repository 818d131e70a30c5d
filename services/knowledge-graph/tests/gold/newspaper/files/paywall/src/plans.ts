import { Pool } from "pg";

const pool = new Pool();

export async function plans(subscriber: string): Promise<string[]> {
  const rows = await pool.query("select plan from subscription where subscriber = $1", [subscriber]);
  return rows.rows.map((row) => row.plan);
}
