/** A thumb up or down, in the colour of the text. */
export function Thumb({ down = false }: { down?: boolean }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinejoin="round"
      transform={down ? 'rotate(180)' : undefined}
      aria-hidden
    >
      <path d="M7 11v9H3v-9zM7 11l4-8c2 0 3 1 3 3l-.5 4H20c1 0 2 1 1.700 2.200l-1.700 6.300c-.3 1-1 1.500-2 1.500H7" />
    </svg>
  );
}
