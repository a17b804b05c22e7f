import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { visibleText } from '../text/visible-text.ts';

export interface Breadcrumb {
  title: string;
  href: string;
}

export interface PageProps {
  title: string;
  /** An element beside the title, for example a status dot. */
  badge?: ComponentChildren;
  /** The pages above this one, the outermost first. */
  crumbs?: readonly Breadcrumb[];
  /** Buttons for the whole page. */
  actions?: ComponentChildren;
  /** A subtitle. */
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

/** The browser itself announces the first page to screen readers, so it does not take the focus. */
let isFirstPage = true;

/** The layout of a screen: title, actions and content. */
export function Page({ title, badge, crumbs = [], actions, lead, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${visibleText(title)} · Tunnel Gateway`;
  }, [title]);
  // Moving the focus to the heading announces the new page to screen readers.
  useEffect(() => {
    if (!isFirstPage && !document.querySelector('dialog[open]')) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);
  return (
    <div class="page">
      {crumbs.length > 0 && (
        <nav class="crumbs" aria-label="Where this is">
          <ol>
            {crumbs.map((crumb) => (
              <li key={crumb.href}>
                <a href={crumb.href}>{crumb.title}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <header class="page-header">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {badge}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}

export interface SectionProps {
  title: string;
  actions?: ComponentChildren;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}

/** A section of a page. */
export function Section({ title, actions, lead, children }: SectionProps) {
  return (
    <section class="section">
      <header class="section-header">
        <h2>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}
