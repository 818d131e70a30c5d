// Zoom of a PDF page, relative to the width of the panel. Pure.
const STEPS = [1, 1.25, 1.5, 2, 3] as const;

/** The next zoom step in a direction; undefined if there is none. */
export const nextZoom = (zoom: number, by: 1 | -1): number | undefined =>
  by > 0 ? STEPS.find((step) => step > zoom) : STEPS.findLast((step) => step < zoom);
