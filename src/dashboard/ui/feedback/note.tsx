import type { ComponentChildren } from 'preact';

export interface NoteProps {
  look?: 'info' | 'warn' | 'good';
  children: ComponentChildren;
}

/** Something to know before going on. */
export function Note({ look = 'info', children }: NoteProps) {
  return <div class={`note ${look}`}>{children}</div>;
}
