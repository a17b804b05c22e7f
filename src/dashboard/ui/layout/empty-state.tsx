import type { ComponentChildren } from 'preact';
import { CodeBlock } from '../text/code-block.tsx';

export interface EmptyStateProps {
  title: string;
  children?: ComponentChildren;
  /** A command to copy. */
  command?: string;
  /** A button that creates the first object. */
  action?: ComponentChildren;
}

/** Shown in place of an empty list: what belongs here, and what to do next. */
export function EmptyState({ title, children, command, action }: EmptyStateProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <div class="empty-text">{children}</div>}
      {command && <CodeBlock code={command} label="the command" />}
      {action}
    </div>
  );
}
