// Writes src/api/schema.d.ts and run-events.d.ts from the committed OpenAPI and AsyncAPI documents; neither is committed.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const CONTRACTS = new URL('../../../libs/contracts/', import.meta.url);
const OPTIONS = { defaultNonNullable: false }; // a field with a default may be omitted from a request

const read = async (name) => JSON.parse(await readFile(new URL(name, CONTRACTS), 'utf8'));
const write = (name, text) => writeFile(new URL(`../src/api/${name}`, import.meta.url), text);

/** The paths and bodies of the public HTTP API. */
async function http() {
  return astToString(await openapiTS(await read('src/contracts/api/attractor.openapi.json'), OPTIONS));
}

/** The events of a run and of a workspace: the payload of each, and maps from an event's name to its payload. */
async function events() {
  const { channels, components } = await read('api/attractor.asyncapi.json');
  const payloads = (channel) =>
    Object.keys(channels[channel].messages).map((name) => {
      const schema = components.messages[name].payload.$ref.split('/').at(-1);
      return `  ${name}: components['schemas']['${schema}'];`;
    });
  const info = { title: 'events', version: '1' };
  const wrapped = { openapi: '3.1.0', info, paths: {}, components: { schemas: components.schemas } };
  const types = astToString(await openapiTS(wrapped, OPTIONS));
  const interfaces = { RunEvents: 'attractor.runs', WorkspaceChanges: 'workspace.changes' };
  const maps = Object.entries(interfaces).map(
    ([name, channel]) => `export interface ${name} {\n${payloads(channel).join('\n')}\n}\n`,
  );
  return [types, ...maps].join('\n');
}

await Promise.all([write('schema.d.ts', await http()), write('run-events.d.ts', await events())]);
