import type { ComponentChildren } from 'preact';

export interface NoteProps {
  variant?: 'info' | 'warn' | 'good';
  children: ComponentChildren;
}

/** A highlighted note. */
export function Note({ variant = 'info', children }: NoteProps) {
  return <div class={`note ${variant}`}>{children}</div>;
}
