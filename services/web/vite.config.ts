import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const { version } = createRequire(import.meta.url)('pdfjs-dist/package.json') as { version: string };
// Its build for browsers has markup parsed to decode `&amp;`, which the security policy forbids
const ENTITIES = 'decode-named-character-reference';
const PDFJS = `assets/pdfjs-${version}`;

// What the first view loads is one file: a browser asks for six at a time. The entry waits for a language, which would
// have to wait for the entry if it held what all import.
const SHELL = {
  name: 'shell',
  tags: ['$initial' as const],
  test: (id: string) => !/\/(index\.html|main\.tsx)$/.test(id),
};

/** pdf.js loads character maps, fonts and decoders by name at run time, from a folder named after its version. */
const pdfjsAssets: Plugin = {
  name: 'pdfjs-assets',
  apply: 'build',
  async writeBundle({ dir }) {
    for (const part of ['cmaps', 'standard_fonts', 'wasm'])
      await cp(`node_modules/pdfjs-dist/${part}`, `${dir}/${PDFJS}/${part}`, { recursive: true });
  },
};

/** Compresses text files once, during the build, so that the server only has to choose a file. */
const precompressed: Plugin = {
  name: 'precompressed',
  apply: 'build',
  async closeBundle() {
    const dir = this.environment.config.build.outDir;
    const files = await readdir(dir, { recursive: true });
    for (const file of files.filter((name) => /\.(m?js|css|html|svg|wasm)$/.test(name))) {
      const content = await readFile(join(dir, file));
      if (content.length < 1024) continue;
      const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
      await writeFile(join(dir, `${file}.br`), await promisify(brotliCompress)(content, { params }));
      await writeFile(join(dir, `${file}.gz`), await promisify(gzip)(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  define: { PDFJS_FILES: JSON.stringify(`/${PDFJS}/`) },
  html: { cspNonce: 'CSP_NONCE' }, // the server sets a new one in every response
  resolve: { alias: { [ENTITIES]: resolve(`node_modules/${ENTITIES}/index.js`) } },
  plugins: [react(), pdfjsAssets, precompressed],
  build: {
    assetsInlineLimit: 0,
    outDir: 'dist',
    emptyOutDir: true,
    chunkSizeWarningLimit: 600, // kB before compression
    rolldownOptions: { output: { codeSplitting: { groups: [SHELL] } } },
  },
  server: { proxy: { '/v1': process.env.ATTRACTOR_URL ?? 'http://127.0.0.1:8080' } },
});
