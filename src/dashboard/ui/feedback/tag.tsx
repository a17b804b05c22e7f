import type { ComponentChildren } from 'preact';

export interface TagProps {
  look?: 'plain' | 'good' | 'warn' | 'bad';
  children: ComponentChildren;
}

/** A word in a small frame: a protocol, a module, a status. */
export function Tag({ look = 'plain', children }: TagProps) {
  return <span class={`tag ${look}`}>{children}</span>;
}
