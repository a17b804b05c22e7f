import type { ComponentChildren } from 'preact';

export interface TagProps {
  variant?: 'plain' | 'good' | 'warn' | 'bad';
  children: ComponentChildren;
}

/** A short label in a frame: a protocol, a module, a status. */
export function Tag({ variant = 'plain', children }: TagProps) {
  return <span class={`tag ${variant}`}>{children}</span>;
}
