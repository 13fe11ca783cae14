"""Singulars of what kinds of jobs say of their results."""

from engagements.text.nested_sentences import declare_noun, ngettext_noop

# Of numbers that no sentence below follows everywhere; none is followed by a verb.
for noun, number in (("file", "files"), ("file", "compared"), ("warning", "warnings"),
                     ("line", "added"), ("dump", "dumps"), ("sheet", "sheets"),
                     ("package", "packages"), ("job", "jobs"), ("place", "changes")):
    declare_noun(f"%({number})d {noun}s", f"%({number})d {noun}", number)

ngettext_noop(
    "%(n)d tensor was written.",
    "%(n)d tensors were written.", "n")
ngettext_noop(
    "%(rows)d tensor compared; first deviating: %(first)s.",
    "%(rows)d tensors compared; first deviating: %(first)s.", "rows")
ngettext_noop(
    "%(rows)d tensor compared; none deviates.",
    "%(rows)d tensors compared; none deviates.", "rows")
ngettext_noop(
    "%(rows)d row; %(nonfinite)d not finite, %(unmatched)d without counterpart; none deviates.",
    "%(rows)d rows; %(nonfinite)d not finite, %(unmatched)d without counterpart; none deviates.",
    "rows")
ngettext_noop(
    "Differences to look at: %(errors)d error, %(warnings)d warnings (%(which)s); compared: "
    "%(parts)s.",
    "Differences to look at: %(errors)d errors, %(warnings)d warnings (%(which)s); "
    "compared: %(parts)s.", "errors")
ngettext_noop(
    "Differences to look at: %(errors)d error, %(warnings)d warnings (%(which)s); compared: "
    "%(parts)s; not compared: %(missing)s.",
    "Differences to look at: %(errors)d errors, %(warnings)d warnings (%(which)s); "
    "compared: %(parts)s; not compared: %(missing)s.", "errors")
ngettext_noop(
    "%(rows)d row; %(nonfinite)d not finite, %(unmatched)d without counterpart; first "
    "deviating: %(first)s.",
    "%(rows)d rows; %(nonfinite)d not finite, %(unmatched)d without counterpart; first "
    "deviating: %(first)s.", "rows")
ngettext_noop(
    "%(apis)d API checked: %(errors)d with errors, %(warnings)d with warnings, %(nonfinite)d "
    "figures not finite; first: %(first)s.",
    "%(apis)d APIs checked: %(errors)d with errors, %(warnings)d with warnings, "
    "%(nonfinite)d figures not finite; first: %(first)s.", "apis")
ngettext_noop(
    "No call made a value NaN or infinite in the %(dumps)d dump looked at; ranks without "
    "data: %(without)s.",
    "No call made a value NaN or infinite in the %(dumps)d dumps looked at; ranks "
    "without data: %(without)s.", "dumps")
ngettext_noop(
    "%(nodes)d node of the NPU run beside the reference; least precise: %(worst)s; "
    "%(overflows)d are marked with an overflow.",
    "%(nodes)d nodes of the NPU run beside the reference; least precise: %(worst)s; "
    "%(overflows)d are marked with an overflow.", "nodes")
ngettext_noop(
    "%(apis)d API checked, forward and backward: no error, no warning, every figure finite.",
    "%(apis)d APIs checked, forward and backward: no error, no warning, every figure "
    "finite.", "apis")
ngettext_noop(
    "Not finite first: %(op)s (%(rank)s); %(n)d call named, %(dumps)d dumps looked at, ranks "
    "without data: %(without)s.",
    "Not finite first: %(op)s (%(rank)s); %(n)d calls named, %(dumps)d dumps looked "
    "at, ranks without data: %(without)s.", "n")
ngettext_noop(
    "A graph of %(nodes)d node; %(overflows)d are marked with an overflow.",
    "A graph of %(nodes)d nodes; %(overflows)d are marked with an overflow.", "nodes")
ngettext_noop(
    "%(n)d overflow: %(which)s. Parse the files that begin with Opdebug.",
    "%(n)d overflows: %(which)s. Parse the files that begin with Opdebug.", "n")
ngettext_noop(
    "%(files)d file lies in the dump folder, which is not known as a state of an overflow "
    "(Opdebug…): it was not looked at.",
    "%(files)d files lie in the dump folder, none of which is known as a state of an "
    "overflow (Opdebug…): they were not looked at.", "files")
ngettext_noop(
    "The command ended with status %(status)s. Nothing else was named as success; collected: "
    "%(files)d file, %(read)d of a known format.",
    "The command ended with status %(status)s. Nothing else was named as success; "
    "collected: %(files)d files, %(read)d of a known format.", "files")
ngettext_noop(
    "The command ended with status %(status)s, and the log holds “%(line)s”. Nothing else "
    "was looked at; collected: %(files)d file, %(read)d of a known format.",
    "The command ended with status %(status)s, and the log holds “%(line)s”. Nothing "
    "else was looked at; collected: %(files)d files, %(read)d of a known format.", "files")
ngettext_noop(
    "The command ended with status %(status)s and left “%(first)s” (%(n)d files “%(file)s”). "
    "Whether they are right was not looked at; collected: %(files)d file, %(read)d of a "
    "known format.",
    "The command ended with status %(status)s and left “%(first)s” (%(n)d files "
    "“%(file)s”). Whether they are right was not looked at; collected: %(files)d "
    "files, %(read)d of a known format.", "files")
ngettext_noop(
    "The command ended with status %(status)s, the log holds “%(line)s”, and it left "
    "“%(first)s” (%(n)d files “%(file)s”). Whether they are right was not looked at; "
    "collected: %(files)d file, %(read)d of a known format.",
    "The command ended with status %(status)s, the log holds “%(line)s”, and it left "
    "“%(first)s” (%(n)d files “%(file)s”). Whether they are right was not looked at; "
    "collected: %(files)d files, %(read)d of a known format.", "files")
ngettext_noop(
    "%(n)d card answers well to every check of hccn_tool.",
    "%(n)d cards answer well to every check of hccn_tool.", "n")
ngettext_noop(
    "%(operation)s over %(ranks)d card: %(sizes)d sizes right, %(bandwidth)s GB/s at "
    "%(bytes)d bytes.",
    "%(operation)s over %(ranks)d cards: %(sizes)d sizes right, %(bandwidth)s GB/s at "
    "%(bytes)d bytes.", "ranks")
ngettext_noop(
    "%(n)d card answers well to %(checks)s; without a healthy answer, and so not known: "
    "%(unanswered)s.",
    "%(n)d cards answer well to %(checks)s; without a healthy answer, and so not "
    "known: %(unanswered)s.", "n")
ngettext_noop(
    "The only chip is healthy.",
    "All %(n)d chips are healthy.", "n")
ngettext_noop(
    "%(bad)d of %(n)d chips is not healthy (%(which)s).",
    "%(bad)d of %(n)d chips are not healthy (%(which)s).", "bad")
ngettext_noop(
    "Only %(n)d chip is listed, %(expected)d are expected.",
    "Only %(n)d chips are listed, %(expected)d are expected.", "n")
ngettext_noop(
    "%(wheel)s is built; %(functions)d function of nsync got a barrier.",
    "%(wheel)s is built; %(functions)d functions of nsync got a barrier.", "functions")
ngettext_noop(
    "Checksum of %(files)d file with %(bytes)d bytes.",
    "Checksums of %(files)d files with %(bytes)d bytes.", "files")
ngettext_noop(
    "%(n)d figure agrees with job %(job)d; the largest difference is %(shown)s %% (%(name)s).",
    "%(n)d figures agree with job %(job)d; the largest difference is %(shown)s %% "
    "(%(name)s).", "n")
ngettext_noop(
    "%(files)d file of %(jobs)d jobs, its checksum verified.",
    "%(files)d files of %(jobs)d jobs, every checksum verified.", "files")
ngettext_noop(
    "Job %(job)d cannot be compared: status %(status)s, %(n)d figure on both sides.",
    "Job %(job)d cannot be compared: status %(status)s, %(n)d figures on both sides.", "n")
ngettext_noop(
    "%(name)s differs by %(shown)s %% from job %(job)d; %(n)d figure compared.",
    "%(name)s differs by %(shown)s %% from job %(job)d; %(n)d figures compared.", "n")
ngettext_noop(
    "%(n)d operator converted, first %(first)s.",
    "%(n)d operators converted, first %(first)s.", "n")
ngettext_noop(
    "%(n)d output compared with the reference: smallest cosine %(cosine)s, %(unlike)d other "
    "files differ.",
    "%(n)d outputs compared with the reference: smallest cosine %(cosine)s, %(unlike)d "
    "other files differ.", "n")
ngettext_noop(
    "%(n)d output; no reference was given, so none was compared.",
    "%(n)d outputs; no reference was given, so none was compared.", "n")
ngettext_noop(
    "Answered with %(tokens)d token.",
    "Answered with %(tokens)d tokens.", "tokens")
ngettext_noop(
    "%(n)d point, %(total)s requests, all answered; at most %(rate)s tokens per second with "
    "%(at)s concurrent requests.",
    "%(n)d points, %(total)s requests, all answered; at most %(rate)s tokens per "
    "second with %(at)s concurrent requests.", "n")
ngettext_noop(
    "%(places)d place in %(files)d of %(compared)d files: %(added)d lines added, %(removed)d "
    "removed; %(left)d files are no text or too large and were not compared.",
    "%(places)d places in %(files)d of %(compared)d files: %(added)d lines added, "
    "%(removed)d removed; %(left)d files are no text or too large and were not "
    "compared.", "places")
ngettext_noop(
    "No blocking finding in %(files)d Python file, %(warnings)d warnings.",
    "No blocking finding in %(files)d Python files, %(warnings)d warnings.", "files")
ngettext_noop(
    "%(blocking)d blocking finding (%(rules)s), %(warnings)d warnings.",
    "%(blocking)d blocking findings (%(rules)s), %(warnings)d warnings.", "blocking")
ngettext_noop(
    "%(n)d of %(files)d files was not analysed (%(unparsed)s): what it uses is not known. In "
    "the others: %(others)s",
    "%(n)d of %(files)d files were not analysed (%(unparsed)s): what they use is not "
    "known. In the others: %(others)s", "n")
ngettext_noop(
    "%(affinity)d API use with an affinity API in %(files)d files. Unsupported APIs were not "
    "looked for in this mode.",
    "%(affinity)d API uses with an affinity API in %(files)d files. Unsupported APIs "
    "were not looked for in this mode.", "affinity")
ngettext_noop(
    "%(files)d file was prepared to record shapes. Nothing is known of dynamic shapes until "
    "the copy has run; unsupported APIs were not looked for in this mode.",
    "%(files)d files were prepared to record shapes. Nothing is known of dynamic "
    "shapes until the copy has run; unsupported APIs were not looked for in this mode.", "files")
ngettext_noop(
    "%(changes)d place changed in %(files)d files; %(unsupported)d unsupported and "
    "%(unknown)d unknown API uses remain.",
    "%(changes)d places changed in %(files)d files; %(unsupported)d unsupported and "
    "%(unknown)d unknown API uses remain.", "changes")
ngettext_noop(
    "None unsupported among %(total)d API use in %(files)d files; of %(unknown)d the support "
    "is not known, %(deprecated)d are deprecated; %(changes)d places changed.",
    "None unsupported among %(total)d API uses in %(files)d files; of %(unknown)d the "
    "support is not known, %(deprecated)d are deprecated; %(changes)d places changed.", "total")
ngettext_noop(
    "%(failed)d use of %(total)d is not supported on the NPU.",
    "%(failed)d uses of %(total)d are not supported on the NPU.", "failed")
ngettext_noop(
    "%(n)d problem: %(which)s.",
    "%(n)d problems: %(which)s.", "n")
ngettext_noop(
    "%(n)d of %(rows)d indexes is slower than the base, most of all %(worst)s.",
    "%(n)d of %(rows)d indexes are slower than the base, most of all %(worst)s.", "n")
ngettext_noop(
    "No problem in the %(sheets)d sheet that the advisor wrote.",
    "No problem in the %(sheets)d sheets that the advisor wrote.", "sheets")
ngettext_noop(
    "%(kernels)d kernel; %(top)s takes %(share)s %% of their time.",
    "%(kernels)d kernels; %(top)s takes %(share)s %% of their time.", "kernels")
ngettext_noop(
    "Only %(readings)d reading of %(cards_read)d cards was taken; run it longer or shorten "
    "the interval.",
    "Only %(readings)d readings of %(cards_read)d cards were taken; run it longer or "
    "shorten the interval.", "readings")
ngettext_noop(
    "%(shown)s %% over %(nodes)d node.",
    "%(shown)s %% over %(nodes)d nodes.", "nodes")
ngettext_noop(
    "%(shown)s %% over %(nodes)d node: above 100 %%, check that both runs are comparable.",
    "%(shown)s %% over %(nodes)d nodes: above 100 %%, check that both runs are "
    "comparable.", "nodes")
ngettext_noop(
    "%(shown)s %% over %(nodes)d card.",
    "%(shown)s %% over %(nodes)d cards.", "nodes")
ngettext_noop(
    "%(shown)s %% over %(nodes)d card: above 100 %%, check that both runs are comparable.",
    "%(shown)s %% over %(nodes)d cards: above 100 %%, check that both runs are "
    "comparable.", "nodes")
ngettext_noop(
    "%(n)d rank, %(megabytes)s MB, packed for MindStudio Insight.",
    "%(n)d ranks, %(megabytes)s MB, packed for MindStudio Insight.", "n")
ngettext_noop(
    "%(without)d of %(n)d ranks has no timeline: %(which)s.",
    "%(without)d of %(n)d ranks have no timeline: %(which)s.", "without")
ngettext_noop(
    "%(n)d rank, %(megabytes)s MB: too large for an archive; open %(folder)s on the node.",
    "%(n)d ranks, %(megabytes)s MB: too large for an archive; open %(folder)s on the "
    "node.", "n")
ngettext_noop(
    "%(shown)s %% = %(speed)s tokens/s × %(giga)s GFLOP ÷ (%(cards)d card × %(peak)s "
    "TFLOPS); %(size)s billion parameters; peak after %(peak_source)s.",
    "%(shown)s %% = %(speed)s tokens/s × %(giga)s GFLOP ÷ (%(cards)d cards × %(peak)s "
    "TFLOPS); %(size)s billion parameters; peak after %(peak_source)s.", "cards")
ngettext_noop(
    "%(shown)s %% = %(reached)s GB/s at %(time)s ms per token ÷ (%(cards)d card × %(peak)s "
    "GB/s); peak after %(peak_source)s.",
    "%(shown)s %% = %(reached)s GB/s at %(time)s ms per token ÷ (%(cards)d cards × "
    "%(peak)s GB/s); peak after %(peak_source)s.", "cards")
ngettext_noop(
    "%(shown)s %% is above the peak: an input is wrong (%(speed)s tokens/s, %(size)s billion "
    "parameters, %(cards)d card of %(peak)s TFLOPS).",
    "%(shown)s %% is above the peak: an input is wrong (%(speed)s tokens/s, %(size)s "
    "billion parameters, %(cards)d cards of %(peak)s TFLOPS).", "cards")
ngettext_noop(
    "%(shown)s %% is above the peak: an input is wrong (%(reached)s GB/s, %(cards)d card of "
    "%(peak)s GB/s).",
    "%(shown)s %% is above the peak: an input is wrong (%(reached)s GB/s, %(cards)d "
    "cards of %(peak)s GB/s).", "cards")
ngettext_noop(
    "%(points)d iteration, all losses finite, last loss %(last_text)s.",
    "%(points)d iterations, all losses finite, last loss %(last_text)s.", "points")
ngettext_noop(
    "The only iteration ran, but no checkpoint was saved.",
    "All %(points)d iterations ran, but no checkpoint was saved.", "points")
ngettext_noop(
    "%(rows_written)d row, of which %(empty_texts)d without text.",
    "%(rows_written)d rows, of which %(empty_texts)d without text.", "rows_written")
ngettext_noop(
    "%(files)d file; %(changed)d of %(tensors)d tensors changed between the steps.",
    "%(files)d files; %(changed)d of %(tensors)d tensors changed between the steps.", "files")
ngettext_noop(
    "%(files)d file of %(steps)d steps; two steps with the same tensors are needed.",
    "%(files)d files of %(steps)d steps; two steps with the same tensors are needed.", "files")
ngettext_noop(
    "%(points)d step, all losses finite.",
    "%(points)d steps, all losses finite.", "points")
ngettext_noop(
    "%(points)d step, all losses finite; no alarm of the detection in the last %(lines)d "
    "lines of the log.",
    "%(points)d steps, all losses finite; no alarm of the detection in the last "
    "%(lines)d lines of the log.", "points")
ngettext_noop(
    "A pack of %(members)d file with %(packages)d packages.",
    "A pack of %(members)d files with %(packages)d packages.", "members")
ngettext_noop(
    "%(n)d score; %(task)s: %(value)s.",
    "%(n)d scores; %(task)s: %(value)s.", "n")
ngettext_noop(
    "Step times of %(n)d rank with %(rows)d rows.",
    "Step times of %(n)d ranks with %(rows)d rows.", "n")
ngettext_noop(
    "%(n)d model, first %(first)s.",
    "%(n)d models, first %(first)s.", "n")
ngettext_noop(
    "%(points)d loss, %(nonfinite)d of them not finite; status %(status)s. See the log.",
    "%(points)d losses, %(nonfinite)d of them not finite; status %(status)s. See the "
    "log.", "points")
ngettext_noop(
    "Only %(points)d of %(steps)d steps is in the log.",
    "Only %(points)d of %(steps)d steps are in the log.", "points")
ngettext_noop(
    "%(n)d alarm of the detection, first: %(first)s",
    "%(n)d alarms of the detection, first: %(first)s", "n")
ngettext_noop(
    "%(n)d score; %(task)s: %(value)s. Not recognised, and so not looked at: %(unread)s.",
    "%(n)d scores; %(task)s: %(value)s. Not recognised, and so not looked at: "
    "%(unread)s.", "n")
