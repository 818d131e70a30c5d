import { defineConfig, devices } from '@playwright/test';

const quiet = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking'];

/** Runs against a running stack (WEB_URL, ATTRACTOR_API_KEY), in the system's browser. */
export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  workers: 1,
  timeout: 600_000, // a test with many steps may take long; each step has its own limit
  retries: 1, // what passes only then is listed as flaky
  expect: { timeout: 90_000 },
  use: {
    ...devices['Desktop Chrome'],
    baseURL: process.env.WEB_URL ?? 'http://127.0.0.1:8080',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [...quiet, '--disable-component-update', '--disable-sync'],
    },
  },
});
