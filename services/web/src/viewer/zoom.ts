// How large a page of a PDF is shown, against the width of the panel. Pure.
const STEPS = [1, 1.25, 1.5, 2, 3] as const;

/** The next step in a direction; undefined where there is none. */
export const nextZoom = (zoom: number, by: 1 | -1): number | undefined =>
  by > 0 ? STEPS.find((step) => step > zoom) : STEPS.findLast((step) => step < zoom);
