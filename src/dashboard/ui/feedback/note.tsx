import type { ComponentChildren } from 'preact';

export interface NoteProps {
  variant?: 'info' | 'warn' | 'good';
  children: ComponentChildren;
}

/** Something to know before going on. */
export function Note({ variant = 'info', children }: NoteProps) {
  return <div class={`note ${variant}`}>{children}</div>;
}
