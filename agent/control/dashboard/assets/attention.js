// Problems that need a person's attention, each with one sentence and one cure.

import { span, reason, count } from './words.js';
import { nameOf } from './model.js';

// attention returns the problems, as {key, text, cure, link}.
export function attention(m) {
  const all = [];
  const add = (key, text, cure, link) => all.push({ key, text, cure, link });
  for (const c of m.status.complaints ?? []) add(c, c);
  if (m.status.compute_code === 'disk_full') add('disk', m.status.compute, m.status.compute_cure, { href: '/preferences', title: 'Preferences' });
  if (m.status.compute_despite) add('despite', `Computing at your request, whatever the preferences say: ${m.status.compute_despite}`, 'set the mode to auto.');
  if (m.status.network_despite) add('network-despite', `The network is used at your request, whatever the preferences say: ${m.status.network_despite}`, 'set the mode of the network to auto.');
  if (m.projects.length > 1 && m.projects.every((p) => p.suspended || p.no_more_work)) {
    add('nobody', 'No new work is fetched: every project is suspended or set to fetch no more work.', 'allow it for a project.', { href: '/projects', title: 'Projects' });
  }
  for (const p of m.projects) {
    const link = { href: projectLink(p), title: nameOf(p) };
    if (p.trouble) add(`t${p.master_url}`, `${nameOf(p)}: ${p.trouble}`, p.trouble_cure, link);
    if (p.failing) add(`f${p.master_url}`, `${nameOf(p)}: ${p.failing.text}`, p.failing.cure, link);
    if (p.ending) add(`e${p.master_url}`, `${nameOf(p)}: ${p.ending}`, '', link);
  }
  const late = m.tasks.filter((t) => t.late_seconds > 0).sort((a, b) => b.late_seconds - a.late_seconds);
  if (late.length) {
    const project = m.projects.find((p) => p.master_url === late[0].project), one = `A task of ${project ? nameOf(project) : late[0].project}`;
    const worst = Date.parse(late[0].report_deadline) <= Date.now() ? `${one} has missed its deadline.` : `${one} will be about ${span(late[0].late_seconds)} late.`;
    add('late', late.length === 1 ? worst : `${count(late.length, 'task')} are late or will be. ${worst}`, late[0].late_cure,
      late.length === 1 ? { href: taskLink(late[0]), title: 'task' } : { href: '/tasks?show=late', title: 'late tasks' });
  }
  for (const x of m.status.powers ?? []) if (x.wrong) add(`p${x.name}`, x.text, 'correct [[power]] in starling.toml, or repair the source.');
  for (const x of m.status.no_effect ?? []) add(x, x, '', { href: '/preferences', title: 'Preferences' });
  if (m.status.manager?.trouble) add('manager', `${m.status.manager.name}: ${m.status.manager.trouble}`);
  const newer = m.status.newer;
  if (newer) add('newer', `Starling ${newer.version} is available; you have ${m.status.version}. See ${newer.url}`);
  return all;
}

// notes returns why the agent does not do more, where nothing is wrong.
export function notes(m) {
  const all = [];
  const can = (cure) => (cure ? ` You can: ${cure}` : '');
  if (m.compute.why) all.push({ key: 'compute', text: reason(m.compute.why, m.compute.until) + can(m.compute.cure) });
  if (m.network.why) all.push({ key: 'network', text: reason(`Network activity is suspended. ${m.network.why}`, m.network.until) + can(m.network.cure) });
  for (const x of m.transfers) {
    if (x.trouble && !x.active && !all.some((o) => o.key === x.trouble)) all.push({ key: x.trouble, text: `${x.name} has to wait. ${x.trouble}${can(x.trouble_cure)}` });
  }
  for (const p of m.projects) {
    const w = work(m, p);
    // The problems are listed already, and an ordinary pause is not one.
    if (w && p.work_code !== p.trouble_code && p.work_code !== 'tasks_fail' && p.work_code !== 'request_delay') all.push({ key: p.master_url, text: `${nameOf(p)}: ${w}${can(p.work_cure)}` });
  }
  return all;
}

// work returns the decision about asking a project for work.
export function work(m, p) {
  const plan = m.plans[p.master_url];
  return plan?.fetch.text === p.work ? reason(p.work, plan.fetch.until) : p.work;
}

export const taskLink = (t) => `/tasks?task=${encodeURIComponent(t.key)}`;
export const projectLink = (p) => `/projects?project=${encodeURIComponent(p.master_url)}`;
