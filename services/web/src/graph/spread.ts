// Where the nodes and labels of a picture go, in pixels. Pure.

export interface Size {
  width: number;
  height: number;
}

/** A node and, to its right, its label: how far they reach from the node's centre. */
export interface Reach {
  radius: number;
  label: number;
}

export interface Rectangle {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

type Place = [x: number, y: number];

export const LABEL_HEIGHT = 18;
export const LABEL_GAP = 4; // between a node and its label
const GAP = 6; // between nodes
const LABELLED_SHARE = 0.4; // of the area; with more, nothing could be moved apart
const MOST_ROUNDS = 300;
const MOST_PAIRS = 12_000_000; // looked at in all rounds together

/**
 * Returns the places of the nodes in the box: they keep their order in both directions but fill the box evenly, and
 * are moved apart until no node or label is over another. If not all labels fit, those of the smallest nodes have no
 * room of their own.
 */
export function spread(places: readonly Place[], reaches: readonly Reach[], box: Size): Place[] {
  const sides = withRoom(reaches, box).map((reach) => around([0, 0], reach));
  const columns = evenly(places.map(([x]) => x));
  const rows = evenly(places.map(([, y]) => y));
  const spread = sides.map(
    ({ left, right, top, bottom }, index): Place => [
      -left + columns[index]! * Math.max(box.width + left - right, 0),
      -top + rows[index]! * Math.max(box.height + top - bottom, 0),
    ],
  );
  const rounds = Math.min(MOST_ROUNDS, MOST_PAIRS / places.length ** 2);
  for (let round = 0; round < rounds && pushApart(spread, sides, box, round % 3 === 2); round++);
  return spread;
}

/** The rectangle of a node at this place, with its label. */
export function around([x, y]: Place, { radius, label }: Reach): Rectangle {
  const high = Math.max(radius, label > 0 ? LABEL_HEIGHT / 2 : 0);
  const wide = radius + (label > 0 ? LABEL_GAP + label : 0);
  return { left: x - radius, right: x + wide, top: y - high, bottom: y + high };
}

/** Returns the indices of the rectangles that are over none of those before them that are returned. */
export function clear(rectangles: readonly Rectangle[]): number[] {
  const taken: Rectangle[] = [];
  return rectangles.flatMap((each, index) => {
    if (taken.some((other) => isOver(each, other))) return [];
    taken.push(each);
    return [index];
  });
}

/** The reaches, without the labels of the smallest nodes if all of them would fill the box. */
function withRoom(reaches: readonly Reach[], box: Size): Reach[] {
  const bare = reaches.map(({ radius }) => ({ radius, label: 0 }));
  let left = LABELLED_SHARE * box.width * box.height - bare.reduce((sum, reach) => sum + area(reach), 0);
  const order = reaches.map((_, index) => index);
  for (const index of order.sort((one, other) => reaches[other]!.radius - reaches[one]!.radius)) {
    left -= area(reaches[index]!) - area(bare[index]!);
    if (left > 0) bare[index] = reaches[index]!;
  }
  return bare;
}

function area(reach: Reach): number {
  const { left, right, top, bottom } = around([0, 0], reach);
  return (right - left + GAP) * (bottom - top + GAP);
}

/** From 0 to 1: a quarter by value, so that groups stay apart, the rest by rank, so that the room is used. */
function evenly(values: readonly number[]): number[] {
  const least = Math.min(...values);
  const range = Math.max(...values) - least || 1;
  const order = values.map((_, index) => index).sort((one, other) => values[one]! - values[other]!);
  const shares = new Array<number>(values.length);
  order.forEach((index, rank) => {
    shares[index] = 0.25 * ((values[index]! - least) / range) + 0.75 * (rank / Math.max(values.length - 1, 1));
  });
  return shares;
}

/**
 * Moves each two that overlap apart by half, within the box, the shorter way or, for those that are jammed, the longer
 * one; returns whether there were any.
 */
function pushApart(places: Place[], sides: readonly Rectangle[], box: Size, isLonger: boolean): boolean {
  let moved = false;
  for (let one = 0; one < places.length; one++)
    for (let other = one + 1; other < places.length; other++) {
      const [at, to] = [places[one]!, places[other]!];
      const [own, its] = [sides[one]!, sides[other]!];
      const wide = Math.min(at[0] + own.right, to[0] + its.right) - Math.max(at[0] + own.left, to[0] + its.left) + GAP;
      const high = Math.min(at[1] + own.bottom, to[1] + its.bottom) - Math.max(at[1] + own.top, to[1] + its.top) + GAP;
      if (wide <= 0 || high <= 0) continue;
      moved = true;
      const axis = wide < high !== isLonger ? 0 : 1;
      const push = ((axis === 0 ? wide : high) / 2 + 0.5) * (at[axis] <= to[axis] ? 1 : -1);
      at[axis] -= push;
      to[axis] += push;
      keepInside(at, own, box);
      keepInside(to, its, box);
    }
  return moved;
}

const isOver = (one: Rectangle, other: Rectangle): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

function keepInside(place: Place, { left, right, top, bottom }: Rectangle, box: Size): void {
  place[0] = Math.max(Math.min(place[0], box.width - right), -left);
  place[1] = Math.max(Math.min(place[1], box.height - bottom), -top);
}
