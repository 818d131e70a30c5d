import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

/** The figures of the pages (tests/benchmarks/web_figures.py); not part of the tests. */
export default defineConfig({ ...tests, testDir: 'tests/figures', testMatch: '*.figures.ts', timeout: 600_000 });
